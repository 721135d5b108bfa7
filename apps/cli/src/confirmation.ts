import type { Command } from 'commander';
import { CommandFailure } from './failure.js';
import { inOneLine } from './output.js';

export interface ConfirmOptions {
  yes?: true;
}

/** Adds the option of a command that deletes something. */
export function withYes(command: Command): Command {
  return command.option('--yes', 'do not ask; required without a terminal');
}

/** Whether to ask before deleting. Ends the command when there is no terminal to ask at. */
export function mustAsk({ yes }: ConfirmOptions, command: Command): boolean {
  if (!yes && !process.stdin.isTTY) command.error('error: --yes is required without a terminal');
  return !yes;
}

/** @throws CommandFailure unless the answer is yes */
export async function confirm(question: string): Promise<void> {
  const { createInterface } = await import('node:readline/promises');
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const closed = new AbortController();
  // Ctrl-C and Ctrl-D close it without an answer.
  terminal.on('close', () => closed.abort());
  const { signal } = closed;
  const answer = await terminal
    .question(`${inOneLine(question)} [y/N] `, { signal })
    .catch(() => '');
  terminal.close();
  if (!/^y(es)?$/i.test(answer.trim())) throw new CommandFailure('Nothing was deleted.');
}
