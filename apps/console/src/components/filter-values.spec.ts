import { expect, it } from 'vitest';
import { faultText, localInputOf, timeOfInput } from './filter-values.js';

it('converts times between the address and an input', () => {
  const time = '2026-11-25T14:02:31.000Z';
  expect(localInputOf(time)).toMatch(/^2026-11-2\dT\d\d:\d\d:31$/);
  expect(timeOfInput(localInputOf(time))).toBe(time);
});

it.each(['', 'yesterday', '2026-99-99'])('takes "%s" for no time', (text) => {
  expect([localInputOf(text), timeOfInput(text)]).toEqual(['', '']);
});

it('describes a wrong filter by its label', () => {
  const says = 'The query parameter producerId must have at most 255 characters.';
  const faultOf = (kind: 'choice' | 'text' | 'time') =>
    faultText({ label: 'Since', kind, choices: [] }, 'x', says);
  expect(faultOf('choice')).toBe('Since: “x” is not one of the choices.');
  expect(faultOf('time')).toBe('Since: “x” is not a time.');
  const long = faultText(
    { label: 'State', kind: 'choice', choices: [] },
    `\u202e${'y'.repeat(100)}`,
    '',
  );
  expect(long).toBe(`State: “${'y'.repeat(60)}…” is not one of the choices.`);
  expect(faultOf('text')).toBe('Since must have at most 255 characters.');
  const typed = faultText({ label: 'Producer’s id', kind: 'choice' }, 'x', says);
  expect(typed).toBe('Producer’s id must have at most 255 characters.');
});
