import { type RefObject, useLayoutEffect, useState } from 'react';
import { flushSync } from 'react-dom';

/** So many rows around those on screen are rendered, too. */
export const MARGIN_ROWS = 10;

/** The rows on screen, and some around them; all of them on paper. Others are not rendered. @param rowHeight in CSS pixels */
export function useRange(
  body: RefObject<HTMLDivElement | null>,
  count: number,
  rowHeight: number,
): [number, number] {
  const [range, setRange] = useState<[number, number]>([0, 40]);
  useLayoutEffect(() => {
    function measure(): void {
      if (!body.current) return;
      const top = -body.current.getBoundingClientRect().top;
      // In steps, so that scrolling by a row does not render.
      const first = Math.floor(top / rowHeight / MARGIN_ROWS) * MARGIN_ROWS - MARGIN_ROWS;
      const shown = Math.ceil(window.innerHeight / rowHeight) + 3 * MARGIN_ROWS;
      const from = Math.max(first, 0);
      const to = Math.max(first + shown, 0);
      setRange((before) => (before[0] === from && before[1] === to ? before : [from, to]));
    }
    measure();
    window.addEventListener('scroll', measure, { passive: true });
    window.addEventListener('resize', measure);
    // On paper nothing scrolls. The browser waits for nothing.
    const showAll = () => flushSync(() => setRange([0, count]));
    window.addEventListener('beforeprint', showAll);
    window.addEventListener('afterprint', measure);
    return () => {
      window.removeEventListener('scroll', measure);
      window.removeEventListener('resize', measure);
      window.removeEventListener('beforeprint', showAll);
      window.removeEventListener('afterprint', measure);
    };
  }, [body, count, rowHeight]);
  return [Math.min(range[0], count), Math.min(range[1], count)];
}
