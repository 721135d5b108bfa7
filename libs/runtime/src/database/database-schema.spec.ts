import { expect, it } from 'vitest';
import { commandsIn } from './database-schema.js';

it('finds the commands of a text, each with the body of its function', () => {
  const body = `CREATE FUNCTION f() RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1;
  EXECUTE $sql$ SELECT $1; $sql$ USING 1;
END
$$`;
  const commands = commandsIn(`CREATE TABLE t (a text);\n${body};\nSELECT f();\n`);
  expect(commands.map((command) => command.trim())).toEqual([
    'CREATE TABLE t (a text)',
    body,
    'SELECT f()',
  ]);
  expect(commandsIn('')).toEqual([]);
});
