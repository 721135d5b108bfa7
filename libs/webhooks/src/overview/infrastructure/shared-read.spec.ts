import { expect, it } from 'vitest';
import { SharedRead } from './shared-read.js';

const broken = (): never => {
  throw new Error('broken');
};

it.each([
  ['rejects', () => Promise.reject(new Error('broken'))],
  ['throws', broken],
])('reads again after a read that %s, also when there was a result before', async (_how, fail) => {
  const reads = [() => Promise.resolve(1), fail, () => Promise.resolve(2)];
  const shared = new SharedRead(-1, () => reads.shift()!());
  expect(await shared.get()).toBe(1);
  await expect(shared.get()).rejects.toThrow('broken');
  expect(await shared.get()).toBe(2);
});
