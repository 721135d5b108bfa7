import { type Command, Option } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import type { ApiConnection } from '../api/api-connection.js';
import { numericId } from '../arguments.js';
import { addApiCommand, addCommand, type Options, withApi } from '../command.js';
import { print } from '../output.js';
import { Table } from '../table.js';

type Credential = Schemas['Credential'];

const SCOPES = ['manage', 'read'] satisfies Credential['scope'][];

interface CreateOptions extends Options {
  name?: string;
  scope: Credential['scope'];
  expiresAt?: string;
}

/** `own-credentials list|create|revoke`: to replace a leaked password, create one and revoke the old one. */
export function addOwnCredentialsCommands(program: Command): void {
  const own = addCommand(
    program,
    'own-credentials',
    'list, create and revoke your own passwords through a running API',
    'list',
  );
  addApiCommand(own, 'list', 'list your credentials').action(withApi(list));
  addApiCommand(
    own,
    'create',
    'create a password, and print it; the others keep working',
    '--name Dashboard --scope read',
  )
    .option('--name <name>', 'a label, such as the program that uses it')
    .addOption(
      new Option('--scope <scope>', 'manage: all that you may do; read: only GET, and no secret')
        .choices(SCOPES)
        .default('manage'),
    )
    .option('--expires-at <time>', 'when it expires, such as 2027-01-31T12:00:00Z')
    .action(withApi(create));
  addApiCommand(own, 'revoke', 'revoke a password; it stops working within a second', '4')
    .argument('<id>', 'id of the credential', numericId)
    .action(withApi(revoke));
}

function pathOf({ user }: Options): string {
  return `v1/users/${encodeURIComponent(user)}/credentials`;
}

async function list(api: ApiConnection, options: Options): Promise<void> {
  const table = new Table(options, [
    { title: 'id', isNumber: true },
    { title: 'since' },
    { title: 'until' },
    { title: 'last used' },
    { title: 'scope' },
    { title: 'name' },
  ]);
  const credentials = await api.json<Credential[]>('GET', pathOf(options));
  table.add(
    credentials.map((value) => {
      const { id, name, scope, createdAt, expiresAt, lastUsedAt } = value;
      return { value, cells: [id, createdAt, expiresAt, lastUsedAt, scope, name] };
    }),
  );
  table.end('There are no credentials.');
}

async function create(api: ApiConnection, options: CreateOptions): Promise<void> {
  const { name, scope, expiresAt } = options;
  const body = JSON.stringify({ name, scope, expiresAt });
  const { text } = await api.ask('POST', pathOf(options), body);
  const created = JSON.parse(text) as Schemas['CreatedCredential'];
  const shown = `password, shown only once: ${created.password ?? ''}`;
  print(options, text, `created credential ${idOf(created)}\n${shown}`);
}

async function revoke(api: ApiConnection, options: Options, id: string): Promise<void> {
  const { text } = await api.ask('DELETE', `${pathOf(options)}/${id}`);
  print(options, text, `revoked credential ${id}`);
}
