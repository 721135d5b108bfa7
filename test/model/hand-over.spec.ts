import { describe, expect, it } from 'vitest';
import { explore } from './explorer.js';
import { type Budget, handOver, type Planted } from './hand-over.js';

describe('every order of steps keeps the promises', () => {
  it.each<Budget>([
    { deliveries: 1, faults: 2, actions: 0 },
    { deliveries: 1, faults: 1, actions: 1 },
    { deliveries: 1, faults: 0, actions: 2 },
    { deliveries: 2, faults: 0, actions: 1 },
    { deliveries: 2, faults: 1, actions: 0 },
  ])('deliveries: $deliveries, faults: $faults, actions: $actions', (budget) => {
    const { breach, states } = explore(handOver(budget));
    expect(breach).toBeUndefined();
    expect(states).toBeGreaterThan(5_000);
  });
});

describe('finds what is planted', () => {
  it.each<[Planted, Omit<Budget, 'deliveries'>, rule: string]>([
    ['RECORD without its fence', { faults: 1, actions: 0 }, 'success overwritten'],
    ['RECORD without KEEPS_STATE', { faults: 0, actions: 1 }, 'cancelled delivery sent again'],
    ['RECORD does not count the attempt', { faults: 0, actions: 0 }, 'attempts miscounted'],
    ['RECORD does not count late attempts', { faults: 1, actions: 0 }, 'attempts miscounted'],
    [
      'RECORD counts an extra attempt in the schedule',
      { faults: 0, actions: 1 },
      'schedule cut short',
    ],
    ['SEND_NOW leases a delivery that is leased', { faults: 0, actions: 1 }, 'two calls at once'],
    ['CLAIM keeps the number of the lease', { faults: 1, actions: 0 }, 'two calls at once'],
    ['switching off keeps the generation', { faults: 0, actions: 2 }, 'leased after its end'],
    ['a call is made twice', { faults: 0, actions: 0 }, 'a duplicate without a lost record'],
    ['a lease does not end', { faults: 1, actions: 0 }, 'never ends'],
  ])('%s', (planted, budget, rule) => {
    const { breach } = explore(handOver({ deliveries: 1, ...budget }, planted));
    expect(breach?.rule).toBe(rule);
  });

  it('a lost claim breaks no promise, because its lease ends', () => {
    const model = handOver({ deliveries: 1, faults: 1, actions: 0 }, 'a claim is lost');
    expect(explore(model).breach).toBeUndefined();
  });
});
