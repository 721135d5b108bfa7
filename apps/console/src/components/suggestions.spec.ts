import { expect, it } from 'vitest';
import type { Filter } from './filters.js';
import { suggestionsFor } from './suggestions.js';

const URL_OF_TWO = 'https://hooks.example.com/a';
const FILTERS: readonly Filter[] = [
  {
    ...{ name: 'state', label: 'State', kind: 'choice', choices: ['succeeded', 'exhausted'] },
    names: { succeeded: 'delivered', exhausted: 'failed' },
  },
  { name: 'event', label: 'Event', kind: 'choice', choices: ['cdrCreated', 'cdrRated'] },
  {
    ...{ name: 'status', label: 'Answer', kind: 'choice', choices: ['failed', '5xx', 'timeout'] },
    names: { failed: 'any failure', '5xx': '5xx', timeout: 'timeout' },
    accepts: /^[1-5]\d\d$/,
  },
  {
    ...{ name: 'webhookId', label: 'Subscription', kind: 'choice', choices: ['7', '8', '9'] },
    names: { '7': 'Billing', '8': URL_OF_TWO, '9': URL_OF_TWO },
    details: { '7': `${URL_OF_TWO} · 7`, '8': '8', '9': '9' },
  },
  { name: 'producerId', label: 'Producer’s id', kind: 'choice', accepts: /^[^]{1,255}$/ },
  {
    ...{ name: 'contains', label: 'Text in the data', kind: 'choice' },
    ...{ accepts: /^.{3,200}$/su, hint: 'case-sensitive' },
  },
  { name: 'since', label: 'Since', kind: 'time' },
];

/** The suggestions that are not about the text itself. */
const found = (text: string) =>
  suggestionsFor(text, FILTERS)
    .filter(({ kind }) => kind !== 'Producer’s id' && kind !== 'Text in the data')
    .map(({ kind, name, detail = '' }) => [kind, name, detail].join(' ').trim());

it.each([
  ['timeout', ['Answer timeout']],
  ['500', ['Answer 500']],
  ['failed', ['State failed', 'Answer any failure']],
  ['exhausted', ['State failed']],
  ['cdrrated', ['Event cdrRated']],
  ['billing', [`Subscription Billing ${URL_OF_TWO} · 7`]],
  [
    'hooks.example.com',
    [
      `Subscription Billing ${URL_OF_TWO} · 7`,
      `Subscription ${URL_OF_TWO} 8`,
      `Subscription ${URL_OF_TWO} 9`,
    ],
  ],
  ['no such thing', []],
  [' ', []],
])('finds what “%s” may mean', (text, expected) => {
  expect(found(text)).toEqual(expected);
});

it('offers the text as a producer’s id and, if it is long enough, as one in the data', () => {
  const kinds = (text: string) => suggestionsFor(text, FILTERS).map(({ kind }) => kind);
  expect(kinds('xy')).toEqual(['Producer’s id']);
  expect(kinds('xyz')).toEqual(['Producer’s id', 'Text in the data']);
  expect(suggestionsFor(' Xyz ', FILTERS).at(-1)).toEqual({
    kind: 'Text in the data',
    name: 'Xyz',
    detail: 'case-sensitive',
    target: { filter: 'contains', value: 'Xyz' },
  });
});

it('opens what has an id', () => {
  const opens = (id: string) => [{ kind: 'Delivery', path: `/deliveries/${id}` }];
  expect(suggestionsFor('4711', FILTERS, opens)[0]).toEqual({
    kind: 'Delivery',
    name: '4711',
    target: { path: '/deliveries/4711' },
  });
});
