import { expect, it } from 'vitest';
import { type JudgedRow, MAX_JUDGED_ROWS, type Page, scanJudged, scanPage } from './paging.js';

const idOf = (number: number) => String(number).padStart(6, '0');
const rowOf = (number: number, isLast = false) => ({ id: idOf(number), matches: true, isLast });

it('ends a page behind as many rows as one statement may read', async () => {
  const scan = () => Promise.resolve([rowOf(1), { ...rowOf(10_000, true), matches: false }]);
  expect(await scanPage(5, ['part'], scan)).toEqual({ rows: [rowOf(1)], stoppedAt: idOf(10_000) });
});

it('goes on in the next part while a page is not full', async () => {
  const scan = (part: number) => Promise.resolve(part === 2 ? [] : [rowOf(part)]);
  expect(await scanPage(3, [1, 2, 3], scan)).toEqual({ rows: [rowOf(1), rowOf(3)] });
});

/** A part with this many rows, of which a statement returns those after an id. */
function partOf(count: number, dataLength = 100) {
  const statements: number[] = [];
  const scan = (_: unknown, { after, limit }: Page): Promise<JudgedRow[]> => {
    const from = after === undefined ? 0 : Number(after);
    const byBytes = Math.ceil((1 << 20) / dataLength);
    const most = Math.min(limit, byBytes, MAX_JUDGED_ROWS, count - from);
    statements.push(most);
    const rows = Array.from({ length: most }, (__, index) => ({
      ...rowOf(from + index + 1, index + 1 === Math.min(byBytes, MAX_JUDGED_ROWS)),
      number: index + 1,
      data: 'x'.repeat(dataLength),
    }));
    return Promise.resolve(rows);
  };
  return { scan, statements };
}

const judge = (isKept: (number: number) => boolean, data?: string) => (row: JudgedRow) =>
  Promise.resolve(
    isKept(Number(row.id)) ? { id: row.id, ...(data !== undefined && { data }) } : undefined,
  );

it('ends a page of judged rows by what it read, not by what was refused', async () => {
  const { scan, statements } = partOf(12_000);
  const nothing = await scanJudged(
    { limit: 21 },
    ['part'],
    scan,
    judge(() => false),
  );
  expect(nothing).toEqual({ rows: [], stoppedAt: idOf(10_021) });
  expect(statements).toEqual([21, ...Array.from({ length: 100 }, () => MAX_JUDGED_ROWS)]);
  const rest = { limit: 21, after: nothing.stoppedAt! };
  expect(
    await scanJudged(
      rest,
      ['part'],
      scan,
      judge(() => false),
    ),
  ).toEqual({ rows: [] });
});

it('finds rare rows in one page', async () => {
  const { scan } = partOf(9_000);
  const found = await scanJudged(
    { limit: 5 },
    ['part'],
    scan,
    judge((n) => n % 1_000 === 0),
  );
  expect(found).toEqual({ rows: [1, 2, 3, 4, 5].map((n) => ({ id: idOf(n * 1_000) })) });
});

it('reads at most 16 MiB for a page of judged rows', async () => {
  const { scan, statements } = partOf(9_000, 64 << 10);
  const found = await scanJudged(
    { limit: 100 },
    ['part'],
    scan,
    judge(() => false),
  );
  expect(found).toEqual({ rows: [], stoppedAt: idOf(16 * 16) });
  expect(statements).toHaveLength(16);
});

it('keeps at most about 1 MiB of data for a page', async () => {
  const { scan } = partOf(100, 64 << 10);
  const data = 'x'.repeat(64 << 10);
  const found = await scanJudged(
    { limit: 100 },
    ['part'],
    scan,
    judge(() => true, data),
  );
  expect(found.rows).toHaveLength(16);
  expect(found.stoppedAt).toBe(idOf(16));
});
