import fc from 'fast-check';
import { expect, it } from 'vitest';
import { ALL_RESOURCES, parseResources, RESOURCES } from './event-kinds.js';

/** Characters that a parser or database may alter. */
const characters = fc.constantFrom(
  ...Array.from('aZ09:=+/-_., "\\\t\n\0\u0085\u00a0é—😀\u{10ffff}'),
);

it.each([
  ['call', 'call'],
  ['all', 'all'],
  ['sms,call', 'sms,call'],
  [' sms ,\tcall ', 'sms,call'],
  ['call,sms,call', 'call,sms'],
  ['call,all', 'all'],
  ['transcription,sms,call', 'transcription,sms,call'],
])('reads %j as %j', (text, resources) => {
  expect(parseResources(text)).toBe(resources);
});

it.each([
  '',
  ' ',
  ',',
  'call,',
  ',call',
  'call,,sms',
  'Call',
  'fax',
  'all,fax',
  'call;sms',
  'call sms',
])('refuses %j', (text) => {
  expect(parseResources(text)).toBeUndefined();
});

const blanks = fc.constantFrom('', ' ', '\t ', '\u00a0');
const items = fc.tuple(blanks, fc.constantFrom(...RESOURCES, ALL_RESOURCES), blanks);

it('removes duplicates from any list of known items, and its result parses to itself', () => {
  fc.assert(
    fc.property(fc.array(items, { minLength: 1, maxLength: 8 }), (parts) => {
      const read = parseResources(parts.map((part) => part.join('')).join(','));
      const given = parts.map(([, item]) => item);
      const wanted = given.includes(ALL_RESOURCES) ? [ALL_RESOURCES] : [...new Set(given)];
      expect(read).toBe(wanted.join(','));
      expect(parseResources(read ?? '')).toBe(read);
    }),
  );
});

it('refuses any list with an unknown item, at every position', () => {
  const known: readonly string[] = [...RESOURCES, ALL_RESOURCES];
  const unknown = fc
    .oneof(
      fc.string({ unit: characters, maxLength: 8 }),
      fc.constantFrom('', 'CALL', 'calls', 'al'),
    )
    .filter((text) => text.split(',').some((item) => !known.includes(item.trim())));
  fc.assert(
    fc.property(fc.array(items, { maxLength: 3 }), unknown, fc.nat(), (parts, wrong, at) => {
      const list = parts.map((part) => part.join(''));
      list.splice(at % (list.length + 1), 0, wrong);
      expect(parseResources(list.join(','))).toBeUndefined();
    }),
  );
});
