import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { ACTIONS, RESOURCES } from './words.js';

it('has words for every action and every kind of resource that the documentation for operators lists', () => {
  const page = readFileSync('docs/operating/audit.md', 'utf8');
  const actions = [...page.matchAll(/`(\w+\.\w+)`/g)].map(([, action]) => action!);
  expect(Object.keys(ACTIONS).sort()).toEqual([...new Set(actions)].sort());
  const resources = new Set(actions.map((action) => action.split('.')[0]!));
  expect(Object.keys(RESOURCES).sort()).toEqual([...resources].sort());
});
