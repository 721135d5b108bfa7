import type { Command } from 'commander';
import { addCommand } from '../command.js';
import { notJson, parsed, readText } from '../input.js';
import { type OutputOptions, print } from '../output.js';

/** `import-applications` */
export function addImportApplicationsCommand(program: Command): void {
  addCommand(
    program,
    'import-applications',
    'import applications and their users from elsewhere, keeping their ids; all or nothing',
    'old-applications.json',
  )
    .argument(
      '<file>',
      'a JSON array of applications, in the form that the API returns; or an object with such `users` ' +
        '(each may have a `password`), `applications`, or both',
    )
    .action(run);
}

async function run(file: string, options: OutputOptions): Promise<void> {
  const text = await readText(file);
  const content = parsed(text);
  if (content === undefined) throw notJson(file, text);
  const { withImports } = await import('../services.js');
  const imported = await withImports(async ({ users, applications, transactions }) => {
    if (!hasParts(content)) return { applications: await applications.import(content) };
    const importUsers = await located('/users', () => users.prepare(content.users ?? []));
    const importApplications = () => applications.import(content.applications ?? []);
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

/** Adds the part of the file to the faults. */
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

function hasParts(value: unknown): value is { users?: unknown; applications?: unknown } {
  return (
    typeof value === 'object' && value !== null && ('users' in value || 'applications' in value)
  );
}
