import { type ReactNode, useEffect, useRef } from 'react';

/** Gives the document a title. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} – Switchhook`;
  }, [title]);
}

/** Whether the first page was shown: its focus is the browser's to place. */
let hasShownPage = false;

/**
 * What every page begins with. After a change of page its heading has the focus, so that a screen reader tells
 * where one is.
 */
export function Page({
  title,
  actions,
  children,
}: {
  title: string;
  /** Buttons beside the heading. */
  actions?: ReactNode;
  children: ReactNode;
}) {
  useTitle(title);
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (hasShownPage) heading.current?.focus();
    hasShownPage = true;
  }, []);
  return (
    <>
      <div className="heading">
        <h1 ref={heading} tabIndex={-1}>
          {title}
        </h1>
        {actions}
      </div>
      {children}
    </>
  );
}
