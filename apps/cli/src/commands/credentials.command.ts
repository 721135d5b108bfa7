import { type Command, Option } from 'commander';
import type { CredentialScope } from '#libs/identity';
import { addCommand } from '../command.js';
import { CommandFailure } from '../failure.js';
import { type OutputOptions, print } from '../output.js';
import { readPassword } from '../input.js';
import { Table } from '../table.js';

/** Repeated here, so that `--help` does not load the service. */
const SCOPES = Object.keys({ manage: true, read: true } satisfies Record<CredentialScope, true>);

/** `credentials list|add|remove`: to change a password, add a new one and remove the old one. */
export function addCredentialsCommands(program: Command): void {
  const credentials = addCommand(
    program,
    'credentials',
    'list, add and remove the passwords of a user',
    'list demo',
  );
  addCommand(
    credentials,
    'list',
    'list the credentials of a user with their periods of validity',
    'demo',
  )
    .argument('<name>', 'username or id')
    .action(list);
  addCommand(
    credentials,
    'add',
    'add a password; without --password-stdin, generate one and print it',
    'demo',
  )
    .argument('<name>', 'username or id')
    .option('--password-stdin', 'read the password from standard input')
    .option('--name <name>', 'a label, such as the program that uses it')
    .addOption(
      new Option(
        '--scope <scope>',
        'manage: all that its user may do; read: only GET, and no secret',
      )
        .choices(SCOPES)
        .default('manage'),
    )
    .option('--expires-at <time>', 'when it expires, such as 2027-01-31T12:00:00Z')
    .action(add);
  addCommand(credentials, 'remove', 'remove a password; it stops working within a second', 'demo 4')
    .argument('<name>', 'username or id')
    .argument('<id>', 'id of the credential')
    .action(remove);
}

async function list(name: string, options: OutputOptions): Promise<void> {
  const { withUsers } = await import('../services.js');
  // Anyone with access to the database operates the service.
  const operator = { userId: '', role: 'platform' } as const;
  const { credentials } = await withUsers((users) => users.show(name, operator));
  const table = new Table(options, [
    { title: 'id', isNumber: true },
    { title: 'since' },
    { title: 'until' },
    { title: 'last used' },
    { title: 'scope' },
    { title: 'name' },
  ]);
  table.add(
    credentials.map(({ id, name: label, scope, createdAt, expiresAt, lastUsedAt }) => ({
      value: { id, name: label, scope, createdAt, expiresAt, lastUsedAt },
      cells: [
        id,
        ...[createdAt, expiresAt, lastUsedAt].map((time) => time?.toISOString()),
        scope,
        label ?? undefined,
      ],
    })),
  );
  table.end('There are no credentials.');
}

interface AddOptions extends OutputOptions {
  passwordStdin?: true;
  name?: string;
  scope: CredentialScope;
  expiresAt?: string;
}

async function add(name: string, options: AddOptions): Promise<void> {
  const expiresAt = options.expiresAt === undefined ? undefined : await timeOf(options.expiresAt);
  const given = options.passwordStdin ? await readPassword() : undefined;
  const { withUsers } = await import('../services.js');
  const { credential, password } = await withUsers((users) =>
    users.addCredential(name, {
      password: given,
      name: options.name,
      scope: options.scope,
      expiresAt,
    }),
  );
  const { id } = credential;
  const shown = password === undefined ? '' : `\npassword, shown only once: ${password}`;
  print(options, { id, password }, `added credential ${id}${shown}`);
}

async function timeOf(text: string): Promise<Date> {
  // Loaded lazily, so that `--help` stays fast.
  const { parseTime } = await import('#libs/kernel');
  const time = parseTime(text);
  if (!time) throw new CommandFailure('--expires-at must be a time such as 2027-01-31T12:00:00Z.');
  return time;
}

async function remove(name: string, id: string, options: OutputOptions): Promise<void> {
  const { withUsers } = await import('../services.js');
  await withUsers((users) => users.removeCredential(name, id));
  print(options, { id }, `removed credential ${id}`);
}
