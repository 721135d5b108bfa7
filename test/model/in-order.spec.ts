import { describe, expect, it } from 'vitest';
import { explore } from './explorer.js';
import { inOrder, type Planted } from './in-order.js';

describe('every order of steps keeps the order of deliveries', () => {
  it.each([
    { deliveries: 3, faults: 0, actions: 0 },
    { deliveries: 2, faults: 2, actions: 0, releases: 0 },
    { deliveries: 2, faults: 1, actions: 1 },
    { deliveries: 2, faults: 0, actions: 2 },
  ])('deliveries: $deliveries, faults: $faults, actions: $actions', (budget) => {
    const { breach, states } = explore(inOrder(budget));
    expect(breach).toBeUndefined();
    expect(states).toBeGreaterThan(100);
  });
});

describe('finds what is planted', () => {
  it.each<[Planted, faults: number, actions: number, rule: string]>([
    ['CLAIM_PACED ignores the places', 0, 1, 'two calls at once'],
    ['placeOf without the number of the lease', 1, 1, 'two calls at once'],
    ['RECORD_PLACE frees no place', 0, 0, 'never ends'],
    ['RECORD_PLACE moves a retry to its time', 0, 0, 'claimed before an earlier one'],
  ])('%s', (planted, faults, actions, rule) => {
    const { breach } = explore(inOrder({ deliveries: 2, faults, actions }, planted));
    expect(breach?.rule).toBe(rule);
  });
});
