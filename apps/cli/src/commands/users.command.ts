import { type Command, Option } from 'commander';
import type { MOST_COUNTED as MOST, Role, Status, User } from '#libs/identity';
import { addCommand } from '../command.js';
import { confirm, type ConfirmOptions, mustAsk, withYes } from '../confirmation.js';
import { CommandFailure } from '../failure.js';
import { type OutputOptions, print } from '../output.js';
import { readPassword } from '../input.js';
import { type Row, Table } from '../table.js';

const PAGE_SIZE = 500;
/** Repeated here, too: how much is counted of an account. */
const MOST_COUNTED: typeof MOST = 10_000;
/** Repeated here, so that `--help` does not load the service. */
const ROLES = Object.keys({
  account: true,
  platform: true,
  operator: true,
  reporter: true,
} satisfies Record<Role, true>);

interface CreateOptions extends OutputOptions {
  role: Role;
  passwordStdin?: true;
  ifMissing?: true;
}

/** `users list|create|lock|unlock|close` */
export function addUsersCommands(program: Command): void {
  const users = addCommand(
    program,
    'users',
    'list, create, lock, unlock and close users; a user is an account',
    'list',
  );
  addCommand(users, 'list', 'list all users').action(list);
  addCommand(
    users,
    'create',
    'create a user; without --password-stdin, generate a password and print it',
    'switch --role reporter',
  )
    .argument('<name>', 'a letter, then up to 63 letters, digits or . _ @ -')
    .addOption(
      new Option(
        '--role <role>',
        'account: a customer; reporter: reports events; operator: sees and manages all accounts; platform: all of this',
      )
        .choices(ROLES)
        .default('account'),
    )
    .option('--password-stdin', 'read the password from standard input')
    .option('--if-missing', 'do nothing if the user exists')
    .action(create);
  addCommand(
    users,
    'lock',
    "refuse a user's credentials; events of the account are still delivered",
    'demo',
  )
    .argument('<name>', 'username or id')
    .action(lock);
  addCommand(users, 'unlock', "accept a user's credentials again", 'demo')
    .argument('<name>', 'username or id')
    .option('--forget-failures', 'and forget the failed logins that lock it out')
    .action(unlock);
  withYes(
    addCommand(
      users,
      'close',
      'close an account for good: end its logins, delete what it has and remove its data',
      'demo',
    ),
  )
    .argument('<name>', 'username or id')
    .action(close);
}

async function list(options: OutputOptions): Promise<void> {
  const { withUsers } = await import('../services.js');
  const table = new Table(options, [
    { title: 'id', isNumber: true },
    { title: 'username' },
    { title: 'role' },
    { title: 'status', styleOf: (status) => (status === 'locked' ? 'red' : undefined) },
    { title: 'joined' },
  ]);
  await withUsers(async (users) => {
    let page = await users.list({ limit: PAGE_SIZE });
    while (page.length > 0) {
      table.add(page.map(rowOf));
      page = await users.list({ after: page.at(-1)!.id, limit: PAGE_SIZE });
    }
  });
  table.end('There are no users.');
}

function rowOf({ id, username, role, status, joinDate }: User): Row {
  const value = { id, username, role, status, joinDate };
  return { value, cells: [id, username, role, status, joinDate.toISOString()] };
}

async function create(username: string, options: CreateOptions): Promise<void> {
  const given = options.passwordStdin ? await readPassword() : undefined;
  const { UsernameTakenError } = await import('#libs/identity');
  const { withUsers } = await import('../services.js');
  await withUsers(async (users) => {
    try {
      const { user, password } = await users.create({
        username,
        role: options.role,
        password: given,
      });
      const { id, username: name, role } = user;
      const shown = password === undefined ? '' : `\npassword, shown only once: ${password}`;
      const created = { id, username: name, role, password };
      print(options, created, `created ${name} (id ${id}, role ${role})${shown}`);
    } catch (error) {
      // If two commands run concurrently, one creates the user and both succeed.
      if (!(options.ifMissing && error instanceof UsernameTakenError)) throw error;
      print(options, { username, exists: true }, `${username} already exists`);
    }
  });
}

async function setStatus(name: string, status: Status, options: OutputOptions): Promise<User> {
  const { withUsers } = await import('../services.js');
  const user = await withUsers((users) => users.setStatus(name, status));
  const { id, username } = user;
  print(options, { id, username, status }, `${username} is ${status}`);
  return user;
}

async function lock(name: string, options: OutputOptions): Promise<void> {
  await setStatus(name, 'locked', options);
}

async function unlock(
  name: string,
  options: OutputOptions & { forgetFailures?: true },
): Promise<void> {
  const { username } = await setStatus(name, 'active', options);
  if (!options.forgetFailures) return;
  const { forgetLoginFailures } = await import('#libs/identity');
  const { firstLine, readConfigOf } = await import('#libs/runtime');
  let forgotten: number;
  try {
    forgotten = await forgetLoginFailures(readConfigOf('cli'), username);
  } catch (error) {
    const why = firstLine(error);
    throw new CommandFailure(`Redis, which counts failed logins, cannot be reached (${why}).`);
  }
  print(options, { username, forgotten }, `counters of failed logins forgotten: ${forgotten}`);
}

async function close(
  name: string,
  options: OutputOptions & ConfirmOptions,
  command: Command,
): Promise<void> {
  const isAsking = mustAsk(options, command);
  const { withClosing } = await import('../services.js');
  await withClosing(async ({ users, closings }) => {
    const { id, username, status } = await users.changeable(name, undefined);
    if (isAsking && status !== 'closing' && status !== 'closed') {
      const { events, deliveries } = await closings.remains(id);
      await confirm(
        `Close ${username} (id ${id}) for good, and remove its events (${shownCount(events)}) and deliveries ` +
          `(${shownCount(deliveries)})?`,
      );
    }
    const closed = await users.close(id);
    const state =
      closed.status === 'closed'
        ? 'is closed'
        : 'is being closed; workers remove its data (switchhook users list shows its status)';
    print(options, { id, username, status: closed.status }, `${username} (id ${id}) ${state}`);
  });
}

function shownCount(count: number): string {
  return count < MOST_COUNTED ? String(count) : `${MOST_COUNTED} or more`;
}
