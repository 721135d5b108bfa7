import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { GroupCommit } from './group-commit.js';

const later = () => new Promise((resolve) => setImmediate(resolve));

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

it('puts callers of one event loop iteration, or of one running batch, into one batch', async () => {
  const batches: number[][] = [];
  const group = new GroupCommit<number, number>(async (items) => {
    batches.push([...items]);
    await later();
    return items.map((item) => item * 2);
  });
  const first = [group.run([1]), group.run([2, 3])];
  await later();
  const second = [group.one(4), group.one(5)];
  expect(await Promise.all(first)).toEqual([[2], [4, 6]]);
  expect(await Promise.all(second)).toEqual([8, 10]);
  expect(batches).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

it('keeps batches within their limits, except for a single larger unit', async () => {
  const sizes: number[] = [];
  const group = new GroupCommit<number, number>(
    (items) => {
      sizes.push(items.length);
      return Promise.resolve([...items]);
    },
    { maxItems: 4, maxWeight: 10, weigh: (item) => item },
  );
  await Promise.all([
    group.run([1, 1, 1]),
    group.run([1, 1]),
    group.run([1, 1, 1, 1, 1]),
    group.run([9]),
    group.run([2]),
  ]);
  expect(sizes).toEqual([3, 2, 5, 1, 1]);
});

it('starts another batch beside a running one only when it is full', async () => {
  const started: number[][] = [];
  const ends: (() => void)[] = [];
  const group = new GroupCommit<number, number>(
    async (items) => {
      started.push([...items]);
      await new Promise<void>((resolve) => ends.push(resolve));
      return [...items];
    },
    { maxItems: 2, maxWeight: 100, weigh: (item) => item, atOnce: 2 },
  );
  const results = [group.one(1)];
  await later();
  results.push(group.one(2));
  await later();
  expect(started).toEqual([[1]]);
  results.push(group.one(3));
  await later();
  expect(started).toEqual([[1], [2, 3]]);
  // Full again, but two are running.
  results.push(group.one(4), group.one(5), group.one(6), group.one(100));
  await later();
  expect(started).toHaveLength(2);
  ends[0]!();
  await later();
  expect(started.slice(2)).toEqual([[4, 5]]);
  ends[1]!();
  await later();
  expect(started.slice(3)).toEqual([[6]]);
  ends[2]!();
  await later();
  // A batch of one item that is full by weight.
  expect(started.slice(4)).toEqual([[100]]);
  for (const end of ends) end();
  expect(await Promise.all(results)).toEqual([1, 2, 3, 4, 5, 6, 100]);
});

it('gathers items for a while, until there are enough, or until the batch is full', async () => {
  const batches: number[][] = [];
  const gathering = (ms: number, longestMs: number) =>
    new GroupCommit<number, number>(
      (items) => {
        batches.push([...items]);
        return Promise.resolve([...items]);
      },
      { maxItems: 4, gather: { ms, atLeast: 2, longestMs } },
    );
  const startedAt = performance.now();
  const brief = gathering(200, 400);
  await brief.one(1);
  expect(performance.now() - startedAt).toBeGreaterThan(390);
  await Promise.all([brief.one(2), brief.one(3)]);
  expect(performance.now() - startedAt).toBeGreaterThan(590);
  const long = gathering(1, 600_000);
  const first = long.one(4);
  await sleep(20);
  await Promise.all([first, long.one(5)]);
  const longest = gathering(600_000, 600_000);
  await Promise.all([6, 7, 8, 9].map((item) => longest.one(item)));
  expect(batches).toEqual([[1], [2, 3], [4, 5], [6, 7, 8, 9]]);
});

describe('with a pause after large batches', () => {
  /** A group whose first batch has ended, and had three items. */
  async function paused(ms: number) {
    const batches: number[][] = [];
    const group = new GroupCommit<number, number>(
      (items) => {
        batches.push([...items]);
        return Promise.resolve([...items]);
      },
      { maxItems: 5, pause: { ms, after: 3 } },
    );
    await Promise.all([1, 2, 3].map((item) => group.one(item)));
    batches.length = 0;
    return { batches, group };
  }

  it('does not pause after a smaller one', async () => {
    const small = new GroupCommit<number, number>((items) => Promise.resolve([...items]), {
      pause: { ms: 600_000, after: 3 },
    });
    expect([await small.run([1, 2]), await small.run([3])]).toEqual([[1, 2], [3]]);
  });

  it('starts the next one when it has as many items as the last one', async () => {
    const { batches, group } = await paused(600_000);
    const results = [group.one(4), group.one(5)];
    await later();
    expect(batches).toEqual([]);
    results.push(group.one(6));
    expect(await Promise.all(results)).toEqual([4, 5, 6]);
    expect(batches).toEqual([[4, 5, 6]]);
  });

  it('starts the next one after the pause with the items that there are', async () => {
    const { batches, group } = await paused(200);
    const startedAt = performance.now();
    await Promise.all([group.one(4), group.one(5)]);
    expect(performance.now() - startedAt).toBeGreaterThan(150);
    expect(batches).toEqual([[4, 5]]);
  });

  it('starts the next one when it is full, however many the last one had', async () => {
    const { batches, group } = await paused(600_000);
    const large = group.run([4, 5, 6, 7, 8, 9]);
    await large;
    await group.run([10, 11, 12, 13, 14]);
    expect(batches).toEqual([
      [4, 5, 6, 7, 8, 9],
      [10, 11, 12, 13, 14],
    ]);
  });

  it('counts the items that waited already besides those that it waits for', async () => {
    const batches: number[][] = [];
    const ends: (() => void)[] = [];
    const group = new GroupCommit<number, number>(
      async (items) => {
        batches.push([...items]);
        await new Promise<void>((resolve) => ends.push(resolve));
        return [...items];
      },
      { pause: { ms: 600_000, after: 2 } },
    );
    const results = [group.run([1, 2])];
    await later();
    results.push(group.run([3, 4, 5]));
    ends[0]!();
    await later();
    results.push(group.run([6]));
    await later();
    expect(batches).toEqual([[1, 2]]);
    results.push(group.run([7]));
    await later();
    ends[1]!();
    await Promise.all(results);
    expect(batches).toEqual([
      [1, 2],
      [3, 4, 5, 6, 7],
    ]);
  });
});

it.each([
  ['data', '22P05'],
  ['row, which is too long for an index,', '54000'],
  ['row, which a trigger refuses,', 'P0001'],
  ['damaged row', 'XX001'],
])('fails only the unit whose %s is at fault', async (_what, code) => {
  const group = new GroupCommit<number, number>((items) =>
    items.includes(3) ? Promise.reject(failure(code)) : Promise.resolve([...items]),
  );
  const results = await Promise.allSettled([1, 2, 3, 4, 5].map((item) => group.one(item)));
  expect(results.map((result) => result.status)).toEqual([
    'fulfilled',
    'fulfilled',
    'rejected',
    'fulfilled',
    'fulfilled',
  ]);
});

it('repeats a batch after a deadlock', async () => {
  let tries = 0;
  const group = new GroupCommit<number, number>((items) => {
    tries += 1;
    return tries < 3 ? Promise.reject(failure('40P01')) : Promise.resolve([...items]);
  });
  expect(await group.one(7)).toBe(7);
});

it('fails every unit while the database is unavailable, and runs the next batch', async () => {
  let isAway = true;
  const group = new GroupCommit<number, number>((items) =>
    isAway ? Promise.reject(failure('ECONNREFUSED')) : Promise.resolve([...items]),
  );
  const results = await Promise.allSettled([group.one(1), group.one(2)]);
  expect(results.every((result) => result.status === 'rejected')).toBe(true);
  isAway = false;
  expect(await group.one(3)).toBe(3);
});

it('fails only the caller whose items cannot be weighed', async () => {
  const weigh = (item: number): number => {
    if (item === 2) throw new Error('broken');
    return 1;
  };
  const group = new GroupCommit<number, number>((items) => Promise.resolve([...items]), { weigh });
  const results = await Promise.allSettled([1, 2, 3].map((item) => group.one(item)));
  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
  expect(await group.one(4)).toBe(4);
});

it.each([
  ['throws', () => fail()],
  ['has no results', () => Promise.resolve(undefined as never)],
])('fails every unit when the statement %s, and runs the next batch', async (_how, execute) => {
  let isBroken = true;
  const group = new GroupCommit<number, number>((items) =>
    isBroken ? execute() : Promise.resolve([...items]),
  );
  const results = await Promise.allSettled([group.one(1), group.run([2, 3])]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  isBroken = false;
  expect(await group.one(4)).toBe(4);
});

function fail(): never {
  throw new Error('broken');
}
