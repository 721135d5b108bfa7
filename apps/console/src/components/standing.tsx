import { type FocusEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { type Standing, standingRows } from './standing-rows.js';

/** A list that stands still while somebody points at it, has the focus in it, or has scrolled away from its top. */
export interface StandingList<Row> extends Standing<Row> {
  /** Shows the rows that are held back. */
  show: () => void;
  /** The handlers of the element around the list. */
  listeners: object;
}

interface Shown<Row> extends Standing<Row> {
  list: string;
  from: readonly Row[];
}

/**
 * Holds rows in place. @param list tells one list from another, whose rows are shown at once: filters and order
 */
export function useStandingRows<Row>(
  from: readonly Row[],
  keyOf: (row: Row) => string,
  list: string,
): StandingList<Row> {
  const [isPointedAt, setIsPointedAt] = useState(false);
  const [hasFocus, setHasFocus] = useState(false);
  const [isScrolled, setIsScrolled] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const measure = (): void =>
      setIsScrolled((element.current?.getBoundingClientRect().top ?? 0) < 0);
    measure();
    window.addEventListener('scroll', measure, { passive: true });
    return () => window.removeEventListener('scroll', measure);
  }, []);

  const isHeld = isPointedAt || hasFocus || isScrolled;
  const fresh: Shown<Row> = { list, from, rows: from, held: 0 };
  const [before, setShown] = useState(fresh);
  let shown = before;
  const isStale = before.from !== from || (!isHeld && before.rows !== from);
  if (isStale || before.list !== list) {
    const isSame = isHeld && before.list === list;
    shown = isSame ? { ...fresh, ...standingRows(before.rows, from, keyOf) } : fresh;
    setShown(shown);
  }
  return {
    rows: shown.rows,
    held: shown.held,
    show: () => {
      setShown(fresh);
      if (isScrolled) window.scrollTo({ top: 0 });
    },
    listeners: {
      ref: element,
      onPointerEnter: () => setIsPointedAt(true),
      onPointerLeave: () => setIsPointedAt(false),
      // The button goes away, without a blur.
      onFocus: ({ target }: FocusEvent) => setHasFocus(target.closest('.arrivals') === null),
      // From row to row, it stays in the list.
      onBlur: ({ currentTarget, relatedTarget }: FocusEvent) => {
        if (!currentTarget.contains(relatedTarget)) setHasFocus(false);
      },
    },
  };
}

/** Surrounds a standing list. A button shows the rows that are held back: over the list, so that it moves nothing. */
export function Listing<Row>({
  of: { held, show, listeners },
  children,
}: {
  of: StandingList<Row>;
  children: ReactNode;
}) {
  return (
    <div {...listeners}>
      <div className="arrivals" role="status">
        {held > 0 && (
          <button type="button" className="primary" onClick={show}>
            {held.toLocaleString('en')} new
          </button>
        )}
      </div>
      {children}
    </div>
  );
}
