import { createContext, type ReactNode, useContext, useEffect, useRef } from 'react';

/** Gives the document a title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Switchhook`;
  }, [title]);
}

/** What stands beside the titles of several pages. */
export const BesideTitle = createContext<ReactNode>(null);

/** Whether the first page was shown: its focus is the browser's to place. */
let hasShownPage = false;

/**
 * What every page begins with: what it is about, its state, and what can be done. After a
 * change of page its heading has the focus, so that a screen reader tells where one is.
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
  /** What the browser's tab says, if the title alone does not tell this page from others. */
  tab?: string;
  /** The link to the list that this is of. */
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
        {state}
        {useContext(BesideTitle)}
        {actions !== undefined && <div className="actions">{actions}</div>}
      </div>
      {children}
    </>
  );
}
