import { describe, expect, it } from 'vitest';
import { explore } from './explorer.js';
import { feedOrder, type Planted } from './feed-order.js';

describe('nothing appears behind a cursor in any order of steps', () => {
  it.each([
    { writers: 3, readers: 1, setbacks: 0 },
    { writers: 2, readers: 1, setbacks: 2 },
    { writers: 1, readers: 2, setbacks: 1 },
  ])('writers: $writers, readers: $readers, setbacks: $setbacks', (budget) => {
    const { breach, states } = explore(feedOrder(budget));
    expect(breach).toBeUndefined();
    expect(states).toBeGreaterThan(100);
  });
});

describe('finds what is planted', () => {
  it.each<[Planted, setbacks: number]>([
    ['feed_time takes the lock after the time', 0],
    ['feed_time ignores feed_clock', 0],
    ['feed_time ignores feed_clock', 1],
    ['the horizon is read before the clock is raised', 0],
    ['the lock ends before the commit', 0],
  ])('%s, setbacks: %d', (planted, setbacks) => {
    const { breach } = explore(feedOrder({ writers: 1, readers: 1, setbacks }, planted));
    expect(breach?.rule).toBe('an event appeared behind a cursor');
  });
});
