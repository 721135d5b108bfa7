import { expect, it } from 'vitest';
import { PendingCounts } from './pending-counts.js';

it('stores each count once when two flushes overlap', async () => {
  const stored = new Map<string, number>();
  const counts = new PendingCounts<string, { count: number }>({ count: 0 }, async (rows) => {
    await Promise.resolve();
    for (const { key, counts } of rows) stored.set(key, (stored.get(key) ?? 0) + counts.count);
  });
  const names = Array.from({ length: 2_500 }, (_, index) => `row ${index}`);
  for (const name of names) counts.add(name, name, { count: 1 });
  await Promise.all([counts.flush(), counts.flush()]);
  expect(stored).toEqual(new Map(names.map((name) => [name, 1])));
});
