import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { example } from '../arguments.js';
import { CommandFailure } from '../failure.js';

/** `import-applications` */
export function addImportApplicationsCommand(program: Command): void {
  program
    .command('import-applications')
    .argument('<file>', 'a JSON array of applications, in the form that the API returns')
    .description('import applications that were created elsewhere, with their ids; all or nothing')
    .addHelpText('after', example('import-applications old-applications.json'))
    .action(run);
}

async function run(file: string): Promise<void> {
  const records = await readJson(file);
  const { withApplications } = await import('../services.js');
  const count = await withApplications((applications) => applications.import(records));
  console.log(`imported ${count} ${count === 1 ? 'application' : 'applications'}`);
}

async function readJson(file: string): Promise<unknown> {
  let bytes: Buffer;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    const why = error instanceof SyntaxError ? error.message : 'it is not UTF-8';
    throw new CommandFailure(`${file} is not JSON: ${why}.`);
  }
}
