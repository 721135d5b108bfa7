import type { Request } from 'express';
import { expect, it } from 'vitest';
import { readConfig } from '#libs/runtime';
import { ListReader } from './list-reader.js';

const config = readConfig({ DATABASE_URL: 'postgres://unused', PUBLIC_BASE_URL: 'http://api' });

it('lets the event loop go on while it formats a list', async () => {
  let turns = 0;
  let next = setImmediate(function count() {
    turns += 1;
    next = setImmediate(count);
  });
  const turnOf: number[] = [];
  const rows = Array.from({ length: 20 }, (_, index) => ({ id: String(index) }));
  const read = () => Promise.resolve(rows);
  const list = new ListReader<{ id: string }>({ config } as Request, read, {
    text: () => {
      turnOf.push(turns);
      // Longer than half of a slice.
      const start = performance.now();
      while (performance.now() - start < 0.6);
      return 'x'.repeat(8 << 10);
    },
  });
  const { ids, next: after } = await list.next(undefined);
  clearImmediate(next);
  expect(ids).toHaveLength(16);
  expect(after).toBe('15');
  expect(new Set(turnOf).size).toBeGreaterThanOrEqual(8);
});
