import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import type { ApiConnection } from '../api/api-connection.js';
import { numericId } from '../arguments.js';
import { addApiCommand, type Options, withApi } from '../command.js';
import { deliveryText } from '../delivery-text.js';
import { CommandFailure } from '../failure.js';
import { print, tell } from '../output.js';

const POLL_MS = 200;
/** An attempt takes at most 20 s, and a test waits for nothing else. */
const TEST_TIMEOUT_MS = 30_000;

/** `webhooks pause|resume|test|secret` */
export function addWebhookActions(webhooks: Command): void {
  const add = (name: string, does: string): Command =>
    addApiCommand(webhooks, name, does, '4711').argument(
      '<id>',
      'id of the subscription',
      numericId,
    );
  add('pause', 'pause a subscription: its deliveries wait until it is resumed').action(
    posting('pause', 'paused'),
  );
  add('resume', 'resume a paused subscription, and send its deliveries').action(
    posting('resume', 'resumed'),
  );
  add(
    'test',
    'send a test notification, and wait for its result; fails unless it is delivered',
  ).action(withApi(test));
  add('secret', 'print the secret, or the public key, that verifies notifications')
    .option('--rotate', 'replace it; for 24 hours, notifications are signed with both')
    .action(withApi(secret));
}

function posting(action: 'pause' | 'resume', done: string) {
  return withApi(async (api, options: Options, id: string) => {
    const { text } = await api.ask('POST', `${pathOf(id)}/${action}`);
    print(options, text, `${done} subscription ${id}`);
  });
}

async function test(api: ApiConnection, options: Options, id: string): Promise<void> {
  const started = await api.json<Schemas['Address']>('POST', `${pathOf(id)}/test`);
  const text = await finished(api, idOf(started));
  const delivery = JSON.parse(text) as Schemas['DeliveryWithAttempts'];
  print(options, text, deliveryText(delivery));
  if (delivery.state !== 'succeeded') throw new CommandFailure('The test was not delivered.');
}

/** The delivery of a test once it has ended, as JSON text. */
async function finished(api: ApiConnection, id: string): Promise<string> {
  const deadline = Date.now() + TEST_TIMEOUT_MS;
  while (Date.now() < deadline) {
    const { text } = await api.ask('GET', `v1/deliveries/${id}`);
    if ((JSON.parse(text) as Schemas['Delivery']).completedAt !== undefined) return text;
    await sleep(POLL_MS);
  }
  throw new CommandFailure(`Delivery ${id} has no result after 30 s. Is a worker running?`);
}

async function secret(
  api: ApiConnection,
  options: Options & { rotate?: true },
  id: string,
): Promise<void> {
  const { text } = options.rotate
    ? await api.ask('POST', `${pathOf(id)}/secret/rotate`)
    : await api.ask('GET', `${pathOf(id)}/secret`);
  const { secret: shared, publicKey } = JSON.parse(text) as Schemas['VerificationKey'];
  // Alone on standard output, for SECRET=$(…).
  print(options, text, shared ?? publicKey ?? '');
  if (options.rotate)
    tell(options, 'For 24 hours, notifications are also signed with the old key.');
}

function pathOf(id: string): string {
  return `v1/webhooks/${id}`;
}
