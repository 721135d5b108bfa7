import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';
import { goToList } from './page-keys.js';

/** Sets the document's title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Switchhook`;
  }, [title]);
}

/** Shown beside the title of every page inside. */
export const BesideTitle = createContext<ReactNode>(null);

/** Whether a page was shown before: the browser places the focus on the first one. */
let hasShownPage = false;

/**
 * The head of every page: its title, its state and its buttons. After navigation the heading gets the focus, so that
 * screen readers announce the page.
 */
export function Page({
  title,
  tab = title,
  crumb,
  state,
  actions,
  children,
}: {
  title: string;
  /** The title of the browser's tab, if `title` is not unique. */
  tab?: string;
  /** A link to the list that the page belongs to. */
  crumb?: ReactNode;
  /** A pill beside the title. */
  state?: ReactNode;
  /** Buttons on the right. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTitle(tab);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasShownPage) heading.current?.focus();
    hasShownPage = true;
  }, []);
  return (
    <>
      <div className="heading">
        {crumb}
        <h1 ref={heading} tabIndex={-1}>
          <bdi>{title}</bdi>
        </h1>
        {/* Hidden by the style sheet on pages without a list. */}
        <button type="button" className="skip to-list" onClick={goToList}>
          Skip to the list
        </button>
        {state}
        {useContext(BesideTitle)}
        {actions !== undefined && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}
