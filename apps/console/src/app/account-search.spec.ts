import { expect, it } from 'vitest';
import type { Schemas } from './api.js';
import { accountsLike } from './account-search.js';

const accounts = ['acme-test', 'acme', 'globex'].map(
  (username, index) => ({ id: 40 + index, username }) as Schemas['User'],
);
const namesLike = (text: string) => accountsLike(accounts, text).map(({ username }) => username);

it.each([
  ['', ['acme-test', 'acme', 'globex']],
  [' ACME', ['acme', 'acme-test']],
  ['lobe', ['globex']],
  ['41', ['acme']],
  ['4', ['acme-test', 'acme', 'globex']],
  ['nobody', []],
])('finds accounts by "%s", an exact match first', (text, names) => {
  expect(namesLike(text)).toEqual(names);
});
