import { expect, it } from 'vitest';
import { actorOf, pageOf } from './words.js';

it.each([
  [{ actor: 'platform' }, 'an operator'],
  [{ actor: 'cli' }, 'the command line'],
  [{ actor: 'cli', userId: 7 }, 'cli'],
  [{ actor: 'new' }, 'new'],
])('says that %j is %s', (entry, text) => {
  expect(actorOf(entry)).toBe(text);
});

it('knows which resources have a page', () => {
  expect([pageOf('webhook', '7'), pageOf('replay', '7'), pageOf('delivery', '../x')]).toEqual([
    '/subscriptions/7',
    undefined,
    '/deliveries/..%2Fx',
  ]);
});
