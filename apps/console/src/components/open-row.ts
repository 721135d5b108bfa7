import { type RefObject, useLayoutEffect, useRef } from 'react';

/** The head, and what is free below the last row. */
const EDGES = { top: 48, bottom: 16 };

/** Keeps the open row in view: when another one opens, and when rows get higher or lower around it. */
export function useOpenRowInView<Row>(
  body: RefObject<HTMLDivElement | null>,
  rows: readonly Row[],
  keyOf: (row: Row) => string,
  openRow: string | undefined,
  rowHeight: number,
): void {
  const before = useRef({ openRow, rowHeight });
  const isThere = openRow !== undefined && rows.some((row) => keyOf(row) === openRow);
  useLayoutEffect(() => {
    const { rowHeight: heightBefore, openRow: openBefore } = before.current;
    // The one that was just closed stays in its place, too.
    const index = rows.findIndex((row) => keyOf(row) === (openRow ?? openBefore));
    before.current = { openRow, rowHeight };
    if (!body.current || index < 0) return;
    const top = body.current.getBoundingClientRect().top + index * rowHeight;
    const below = top + rowHeight + EDGES.bottom - window.innerHeight;
    if (top >= EDGES.top && below <= 0) return;
    const moved = index * (rowHeight - heightBefore);
    window.scrollBy(0, moved || (below > 0 ? below : top - EDGES.top));
    // Not with the rows: those that arrive move nothing.
  }, [openRow, rowHeight, isThere]);
}
