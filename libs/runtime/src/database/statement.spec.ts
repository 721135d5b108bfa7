import { expect, it } from 'vitest';
import { prepared, statement } from './statement.js';

const textOf = (text: string) => statement(text).text;

it('numbers each parameter once, in order of first use', () => {
  const { text, valuesOf } = statement<{ limit: number; ids: string[] }>(
    'SELECT FROM things WHERE id = ANY (@ids::bigint[]) OR n < @limit AND @limit > 0 AND (@ids)[1] = 1',
  );
  expect(text).toBe(
    'SELECT FROM things WHERE id = ANY ($1::bigint[]) OR n < $2 AND $2 > 0 AND ($1)[1] = 1',
  );
  expect(valuesOf({ limit: 2, ids: ['1'] })).toEqual([['1'], 2]);
});

it('distinguishes a name from a longer one with the same beginning', () => {
  expect(textOf('@id, @ids, @id')).toBe('$1, $2, $1');
});

it.each([
  `a @> b AND b <@ c AND d <@c AND e @@ f AND @ -1 > 0`,
  `target_url LIKE '%://***@%' OR name = 'it''s @home' OR mail LIKE 'a@b'`,
  `"a @b" = 1`,
  `1 -- who's @home?`,
])('leaves operators, literals, quoted names and comments alone: %s', (text) => {
  expect(textOf(text)).toBe(text);
});

it('finds a parameter after a comment with an apostrophe', () => {
  expect(textOf(`SELECT -- the planner's\n@id -- 'x\n, '@no', @other`)).toBe(
    `SELECT -- the planner's\n$1 -- 'x\n, '@no', $2`,
  );
});

it('keeps the name of a prepared statement', () => {
  expect(prepared('things.find', 'SELECT @id')).toMatchObject({
    name: 'things.find',
    text: 'SELECT $1',
  });
  expect(statement('SELECT')).not.toHaveProperty('name');
});

it('turns undefined into NULL, but refuses a missing value', () => {
  const { valuesOf } = statement<{ after: string | undefined }>('SELECT @after');
  expect(valuesOf({ after: undefined })).toEqual([undefined]);
  expect(() => valuesOf({} as { after: undefined })).toThrow('[] do not match [after]');
});

it('refuses a value that the text does not use', () => {
  const { valuesOf } = statement<{ id: string; limit: number }>('SELECT @id');
  expect(() => valuesOf({ id: '1', limit: 2 })).toThrow('[id,limit] do not match [id]');
});
