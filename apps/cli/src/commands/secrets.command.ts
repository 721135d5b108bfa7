import type { Command } from 'commander';
import { addCommand } from '../command.js';
import { CommandFailure } from '../failure.js';
import { type OutputOptions, print } from '../output.js';

/** `secrets reencrypt` */
export function addSecretsCommands(program: Command): void {
  const secrets = addCommand(
    program,
    'secrets',
    'manage the encrypted secrets of subscriptions (SECRETS_KEYS)',
    'reencrypt',
  );
  addCommand(
    secrets,
    'reencrypt',
    'encrypt everything with the first key; the others can be removed afterwards',
  ).action(reencrypt);
}

async function reencrypt(options: OutputOptions): Promise<void> {
  const { SecretsReencryption, SubscriptionsModule } = await import('#libs/webhooks');
  const { withService } = await import('../services.js');
  await withService(SubscriptionsModule, SecretsReencryption, async (secrets) => {
    if (secrets.keyId === undefined) throw new CommandFailure('SECRETS_KEYS is not set.');
    const { changed, unreadable } = await secrets.run();
    const { keyId } = secrets;
    const line = `subscriptions re-encrypted with the key "${keyId}": ${changed}`;
    print(options, { keyId, changed, unreadable: unreadable.size }, line);
    const [first] = unreadable;
    if (!first) return;
    const [id, reason] = first;
    throw new CommandFailure(
      `subscriptions that could not be read: ${unreadable.size}, such as ${id}: ${reason}.`,
    );
  });
}
