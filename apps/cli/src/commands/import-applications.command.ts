import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { example } from '../arguments.js';
import { CommandFailure } from '../failure.js';
import { type OutputOptions, print } from '../output.js';

/** `import-applications` */
export function addImportApplicationsCommand(program: Command): void {
  program
    .command('import-applications')
    .argument(
      '<file>',
      'a JSON array of applications, in the form that the API returns; or an object with such `users` ' +
        '(each may have a `password`) and `applications`',
    )
    .description(
      'import applications, and their users, that were created elsewhere, with their ids; all or nothing',
    )
    .addHelpText('after', example('import-applications old-applications.json'))
    .action(run);
}

async function run(file: string, options: OutputOptions): Promise<void> {
  const content = await readJson(file);
  const { withImports } = await import('../services.js');
  const imported = await withImports(async ({ users, applications, transactions }) => {
    if (!hasUsers(content)) return { applications: await applications.import(content) };
    const importUsers = await located('/users', () => users.prepareImport(content.users));
    const importApplications = () => applications.import(content.applications);
    return transactions.run(async () => ({
      users: await located('/users', importUsers),
      applications: await located('/applications', importApplications),
    }));
  });
  const counted = Object.entries(imported).map(
    ([what, count]) => `${count} ${count === 1 ? what.slice(0, -1) : what}`,
  );
  print(options, imported, `imported ${counted.join(' and ')}`);
}

/** Says in which part of the file the faults are. */
async function located<Result>(part: string, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    const { ValidationError } = await import('#libs/kernel');
    if (!(error instanceof ValidationError)) throw error;
    const faults = error.faults.map((fault) => ({ ...fault, field: part + fault.field }));
    throw new ValidationError(faults);
  }
}

function hasUsers(value: unknown): value is { users: unknown; applications?: unknown } {
  return typeof value === 'object' && value !== null && 'users' in value;
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
