import { expect, it } from 'vitest';
import { firstRows } from './first-rows.js';

/** A list whose pages have these rows. */
function listOf(...pages: number[][]) {
  return (page: { after?: string }) => {
    const at = Number(page.after ?? 0);
    const isLast = at === pages.length - 1;
    const link = `<http://api/v1/events?after=${at + 1}>; rel="next"`;
    const response = new Response('', { headers: isLast ? {} : { Link: link } });
    return Promise.resolve({ data: pages[at]!, response });
  };
}

it('reads on while a page has fewer rows than were asked for', async () => {
  expect(await firstRows(2, listOf([], [], [1], [], [2, 3]))).toEqual({
    rows: [1, 2, 3],
    isMore: false,
  });
});

it('says whether more rows follow', async () => {
  expect(await firstRows(2, listOf([1, 2], [3]))).toEqual({ rows: [1, 2], isMore: true });
  expect(await firstRows(2, listOf([1]))).toEqual({ rows: [1], isMore: false });
});

it('ends a search that finds nothing', async () => {
  const pages = Array.from({ length: 200 }, () => []);
  expect(await firstRows(2, listOf(...pages))).toEqual({ rows: [], isMore: true });
});
