import { type RefObject, useLayoutEffect, useRef } from 'react';

/** Heights that stay free: of the header, and below the last row. */
const EDGES = { top: 48, bottom: 16 };

/** Keeps the open row in view when another one opens and when the row height changes. */
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
    // After closing, the row that was open keeps its place.
    const index = rows.findIndex((row) => keyOf(row) === (openRow ?? openBefore));
    before.current = { openRow, rowHeight };
    if (!body.current || index < 0) return;
    const top = body.current.getBoundingClientRect().top + index * rowHeight;
    const below = top + rowHeight + EDGES.bottom - window.innerHeight;
    if (top >= EDGES.top && below <= 0) return;
    const moved = index * (rowHeight - heightBefore);
    window.scrollBy(0, moved || (below > 0 ? below : top - EDGES.top));
    // Not on changes of `rows`: new rows must not scroll the page.
  }, [openRow, rowHeight, isThere]);
}
