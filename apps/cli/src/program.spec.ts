import { readdirSync, readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { expect, it } from 'vitest';
import { buildProgram } from './program.js';

const DOCS = new URL('../../../docs/', import.meta.url);
const OPERATING = new URL('operating/', DOCS);

/** For the shell, and described in prose. */
const OF_COMPLETION = ['completion', 'complete'];

/** The names of the commands below this one, as they are typed. */
function namesIn({ commands }: Command, before = ''): string[] {
  return commands.flatMap((command) => {
    const name = before + command.name();
    return command.commands.length > 0 ? namesIn(command, `${name} `) : [name];
  });
}

/** In the table, a word without a command in front of it belongs to the one before: `webhooks pause`, `resume`. */
function documented(): string[] {
  const page = readFileSync(new URL('command-line.md', DOCS), 'utf8');
  const [table = ''] = /^\| command [^]*?\n\n/m.exec(page) ?? [];
  return table.split('\n').flatMap((row) => {
    let group = '';
    return [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)].map(([, name = '']) => {
      const [first = '', second] = name.split(' ');
      if (second === undefined) return group + first;
      group = `${first} `;
      return name;
    });
  });
}

it('docs/command-line.md lists every command, or its group if operators have a page about it', () => {
  const operating = readdirSync(OPERATING).map((page) =>
    readFileSync(new URL(page, OPERATING), 'utf8'),
  );
  const listed = documented();
  const isListed = (name: string): boolean =>
    listed.includes(name) ||
    (listed.includes(name.split(' ')[0]!) && operating.some((page) => page.includes(name)));
  const names = namesIn(buildProgram()).filter((name) => !OF_COMPLETION.includes(name));
  expect(names.filter((name) => !isListed(name))).toEqual([]);
  const groups = names.map((name) => name.split(' ')[0]!);
  expect(listed.filter((name) => ![...names, ...groups].includes(name))).toEqual([]);
});
