import { setImmediate as nextIteration } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { Turns } from './turns.js';

it('lets programs measure in turns, one at a time, and those that remain after a failure go on', async () => {
  const turns = new Turns();
  const steps: string[] = [];
  const program = (name: string, count: number) => async () => {
    for (let step = 1; step <= count; step += 1) {
      steps.push(`${name}${step} begins`);
      await nextIteration();
      steps.push(`${name}${step} ends`);
      await turns.pass();
    }
    if (name === 'a') throw new Error('a fails');
    return name;
  };
  const results = await Promise.allSettled([
    turns.run(program('a', 2)),
    turns.run(program('b', 3)),
  ]);
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  const order = ['a1', 'b1', 'a2', 'b2', 'b3'];
  expect(steps).toEqual(order.flatMap((step) => [`${step} begins`, `${step} ends`]));
  await expect(turns.run(() => Promise.resolve('later'))).resolves.toBe('later');
});
