import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import {
  type ApiConnection,
  type ApiOptions,
  apiOf,
  withApiOptions,
} from '../api/api-connection.js';
import { example, numericId } from '../arguments.js';
import { deliveryText } from '../delivery-text.js';
import { CommandFailure } from '../failure.js';
import { type OutputOptions, print, tell } from '../output.js';

type Options = ApiOptions & OutputOptions;

const ID = 'id of the subscription';

const POLL_MS = 200;
/** An attempt takes at most 20 s, and a test waits for nothing else. */
const TEST_TIMEOUT_MS = 30_000;

/** `webhooks pause|resume|test|secret` */
export function addWebhookActions(webhooks: Command): void {
  withApiOptions(webhooks.command('pause'), 'account')
    .argument('<id>', ID, numericId)
    .description('let the deliveries of a subscription wait until it is resumed')
    .addHelpText('after', example('webhooks pause 4711'))
    .action(pause);
  withApiOptions(webhooks.command('resume'), 'account')
    .argument('<id>', ID, numericId)
    .description('send the deliveries of a paused subscription')
    .addHelpText('after', example('webhooks resume 4711'))
    .action(resume);
  withApiOptions(webhooks.command('test'), 'account')
    .argument('<id>', ID, numericId)
    .description('send a test notification, and wait for its result; fails unless it is delivered')
    .addHelpText('after', example('webhooks test 4711'))
    .action(test);
  withApiOptions(webhooks.command('secret'), 'account')
    .argument('<id>', ID, numericId)
    .option('--rotate', 'replace it; for 24 hours, notifications are signed with both')
    .description('print the secret, or the public key, that verifies notifications')
    .addHelpText('after', example('webhooks secret 4711'))
    .action(secret);
}

async function pause(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('POST', `${pathOf(id)}/pause`);
  print(options, text, `paused subscription ${id}`);
}

async function resume(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('POST', `${pathOf(id)}/resume`);
  print(options, text, `resumed subscription ${id}`);
}

async function test(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
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
  throw new CommandFailure(`Delivery ${id} has no result after 30 s. Does a worker run?`);
}

async function secret(
  id: string,
  options: Options & { rotate?: true },
  command: Command,
): Promise<void> {
  const api = await apiOf(options, command);
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
