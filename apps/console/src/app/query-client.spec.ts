import { QueryObserver } from '@tanstack/react-query';
import { afterEach, expect, it } from 'vitest';
import { queryClient } from './query-client.js';

const queryKey = ['delivery'];

afterEach(() => queryClient.clear());

/** Shows the data. The test answers each read. */
function shown() {
  const answers: ((value: string) => void)[] = [];
  const observer = new QueryObserver(queryClient, {
    queryKey,
    queryFn: () => new Promise<string>((resolve) => answers.push(resolve)),
  });
  observer.subscribe(() => undefined);
  return { answers, observer };
}

it('repeats a first read once if the data changed during it', async () => {
  const { answers, observer } = shown();
  const both = [1, 2].map(() => queryClient.invalidateQueries({ queryKey }));
  answers[0]!('pending');
  await expect.poll(() => answers.length).toBe(2);
  expect(observer.getCurrentResult().data).toBe('pending');
  answers[1]!('succeeded');
  await Promise.all(both);
  expect(observer.getCurrentResult().data).toBe('succeeded');
  expect(answers).toHaveLength(2);
});

it('reads once if the data did not change', async () => {
  const { answers, observer } = shown();
  await queryClient.invalidateQueries({ queryKey: ['webhook'] });
  answers[0]!('succeeded');
  await expect.poll(() => observer.getCurrentResult().data).toBe('succeeded');
  await expect.poll(() => queryClient.isFetching()).toBe(0);
  expect(answers).toHaveLength(1);
});
