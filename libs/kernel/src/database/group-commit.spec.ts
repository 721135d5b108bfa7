import { expect, it } from 'vitest';
import { GroupCommit } from './group-commit.js';

const later = () => new Promise((resolve) => setImmediate(resolve));

function failure(code: string): Error {
  return Object.assign(new Error(code), { code });
}

it('gathers the callers of one turn, and those who come while a batch is under way', async () => {
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

it('keeps to its bounds, except for a unit that is larger alone', async () => {
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

it('fails only the unit whose data is faulty', async () => {
  const group = new GroupCommit<number, number>((items) =>
    items.includes(3) ? Promise.reject(failure('22P05')) : Promise.resolve([...items]),
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

it('repeats a batch that lost a deadlock', async () => {
  let tries = 0;
  const group = new GroupCommit<number, number>((items) => {
    tries += 1;
    return tries < 3 ? Promise.reject(failure('40P01')) : Promise.resolve([...items]);
  });
  expect(await group.one(7)).toBe(7);
});

it('fails every unit when the database is away, and goes on with the next', async () => {
  let away = true;
  const group = new GroupCommit<number, number>((items) =>
    away ? Promise.reject(failure('ECONNREFUSED')) : Promise.resolve([...items]),
  );
  const results = await Promise.allSettled([group.one(1), group.one(2)]);
  expect(results.every((result) => result.status === 'rejected')).toBe(true);
  away = false;
  expect(await group.one(3)).toBe(3);
});
