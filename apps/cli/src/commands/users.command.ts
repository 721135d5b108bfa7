import { type Command, Option } from 'commander';
import type { Role, Status } from '#libs/identity';
import { example } from '../arguments.js';
import { readPassword } from '../password-input.js';

const PAGE_SIZE = 500;
/** Repeated here, so that `--help` does not load the service. */
const ROLES = Object.keys({ account: true, platform: true } satisfies Record<Role, true>);

interface CreateOptions {
  role: Role;
  passwordStdin?: true;
  ifMissing?: true;
}

/** `users list|create|lock|unlock` */
export function addUsersCommands(program: Command): void {
  const users = program
    .command('users')
    .description('list, create, lock and unlock users; a user is an account')
    .addHelpText('after', example('users list'));
  users
    .command('list')
    .description('list all users')
    .addHelpText('after', example('users list'))
    .action(list);
  users
    .command('create')
    .argument('<name>', 'a letter, then up to 63 letters, digits or . _ @ -')
    .description('create a user; without --password-stdin, generate a password and print it')
    .addOption(
      new Option('--role <role>', 'platform operates the service')
        .choices(ROLES)
        .default('account'),
    )
    .option('--password-stdin', 'read the password from standard input')
    .option('--if-missing', 'do nothing if the user exists')
    .addHelpText('after', example('users create switch --role platform'))
    .action(create);
  users
    .command('lock')
    .argument('<name>', 'username or id')
    .description("refuse a user's credentials; events of the account are still delivered")
    .addHelpText('after', example('users lock demo'))
    .action((name: string) => setStatus(name, 'locked'));
  users
    .command('unlock')
    .argument('<name>', 'username or id')
    .description("accept a user's credentials again")
    .addHelpText('after', example('users unlock demo'))
    .action((name: string) => setStatus(name, 'active'));
}

async function list(): Promise<void> {
  const { withUsers } = await import('../services.js');
  await withUsers(async (users) => {
    let page = await users.list({ limit: PAGE_SIZE });
    console.log(row('id', 'username', 'role', 'status', 'joined'));
    while (page.length > 0) {
      for (const { id, username, role, status, joinDate } of page) {
        console.log(row(id, username, role, status, joinDate.toISOString()));
      }
      page = await users.list({ after: page.at(-1)!.id, limit: PAGE_SIZE });
    }
  });
}

function row(id: string, username: string, role: string, status: string, joined: string): string {
  const columns = [id.padStart(8), username.padEnd(24), role.padEnd(8), status.padEnd(6), joined];
  return columns.join('  ');
}

async function create(username: string, options: CreateOptions): Promise<void> {
  const given = options.passwordStdin ? await readPassword() : undefined;
  const { UsernameTaken } = await import('#libs/identity');
  const { withUsers } = await import('../services.js');
  await withUsers(async (users) => {
    try {
      const { user, password } = await users.create({
        username,
        role: options.role,
        password: given,
      });
      console.log(`created ${user.username} (id ${user.id}, role ${user.role})`);
      if (password !== undefined) console.log(`password, shown only once: ${password}`);
    } catch (error) {
      // Of two concurrent commands, one creates the user and both succeed.
      if (!(options.ifMissing && error instanceof UsernameTaken)) throw error;
      console.log(`${username} already exists`);
    }
  });
}

async function setStatus(name: string, status: Status): Promise<void> {
  const { withUsers } = await import('../services.js');
  const user = await withUsers((users) => users.setStatus(name, status));
  console.log(`${user.username} is ${status}`);
}
