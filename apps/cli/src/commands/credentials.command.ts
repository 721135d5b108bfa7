import type { Command } from 'commander';
import { example } from '../arguments.js';
import { readPassword } from '../password-input.js';

/** `credentials list|add|remove`: a password is changed by adding one and removing the other. */
export function addCredentialsCommands(program: Command): void {
  const credentials = program
    .command('credentials')
    .description('list, add and remove the passwords of a user, who may have several')
    .addHelpText('after', example('credentials list demo'));
  credentials
    .command('list')
    .argument('<name>', 'username or id')
    .description('list the ids of the credentials of a user, and since when each is valid')
    .addHelpText('after', example('credentials list demo'))
    .action(list);
  credentials
    .command('add')
    .argument('<name>', 'username or id')
    .description('add a password; without --password-stdin one is made up and printed')
    .option('--password-stdin', 'read the password from standard input')
    .addHelpText('after', example('credentials add demo'))
    .action(add);
  credentials
    .command('remove')
    .argument('<name>', 'username or id')
    .argument('<id>', 'id of the credential')
    .description('remove a password; it stops working within a second')
    .addHelpText('after', example('credentials remove demo 4'))
    .action(remove);
}

async function list(name: string): Promise<void> {
  const { withUsers } = await import('../services.js');
  // Whoever reaches the database runs the service.
  const operator = { userId: '', username: '', role: 'platform' } as const;
  const { credentials } = await withUsers((users) => users.show(name, operator));
  console.log(`${'id'.padStart(8)}  since`);
  for (const { id, createdAt } of credentials) {
    console.log(`${id.padStart(8)}  ${createdAt.toISOString()}`);
  }
}

async function add(name: string, options: { passwordStdin?: true }): Promise<void> {
  const given = options.passwordStdin ? await readPassword() : undefined;
  const { withUsers } = await import('../services.js');
  const { credential, password } = await withUsers((users) => users.addCredential(name, given));
  console.log(`added credential ${credential.id}`);
  if (password !== undefined) console.log(`password, shown this once: ${password}`);
}

async function remove(name: string, id: string): Promise<void> {
  const { withUsers } = await import('../services.js');
  await withUsers((users) => users.removeCredential(name, id));
  console.log(`removed credential ${id}`);
}
