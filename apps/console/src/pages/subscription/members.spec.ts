import { expect, it } from 'vitest';
import { pathsOf } from './members.js';

it('names each member once, with dots for nested ones, as filters do', () => {
  const found = pathsOf([
    { status: 'failed', caller: { country: 'US', tags: ['a'] } },
    { status: 'ok', 'sip.cause': 1, caller: null },
  ]);
  expect(found).toEqual(['caller', 'caller.country', 'caller.tags', 'sip\\.cause', 'status']);
});

it('goes as deep as a filter can', () => {
  expect(pathsOf([{ a: { b: { c: { d: { e: { f: 1 } } } } } }])).toEqual(['a.b.c.d.e']);
});
