import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { DELIVERY_STATES } from '#libs/webhooks/domain';
import { activityOf } from '../api/activity.js';
import { apiOf, type ApiOptions, withApiOptions } from '../api/api-connection.js';
import { pagesOf } from '../api/lists.js';
import { example, numericId, wholeNumber } from '../arguments.js';
import { DELIVERY_COLUMNS, deliveryCells, deliveryText, resultOf } from '../delivery-text.js';
import { exportList, type ExportOptions, withExportOptions } from '../export/export-list.js';
import { complain, type OutputOptions, print } from '../output.js';
import { stopSignal } from '../stop-signal.js';
import {
  type ReplayOptions,
  startReplay,
  withDeliveryFilters,
  withReplayOptions,
} from '../start-replay.js';
import { Table } from '../table.js';

type Delivery = Schemas['Delivery'];
type Attempt = Schemas['Attempt'];

const MAX_LISTED = 100_000;
const SENDABLE = [
  'pending',
  'exhausted',
  'cancelled',
  'succeeded',
] satisfies Schemas['SendableState'][];

/** Options of `send` without ids. */
const OF_MANY = [
  ...['since', 'until', 'webhook', 'application', 'state', 'event', 'status'],
  ...['dry-run', 'wait'],
];

type Options = ApiOptions & OutputOptions;

interface Filters {
  webhook?: string;
  application?: string;
  state?: string;
  event?: string;
  status?: string;
  producerId?: string;
  contains?: string;
  since?: string;
  until?: string;
}

interface ListOptions extends Options, Filters {
  limit: number;
}

/** `deliveries list|export|tail|show|send|redeliver|cancel` */
export function addDeliveriesCommands(program: Command): void {
  const deliveries = program
    .command('deliveries')
    .description(
      'list, export, show, send and cancel deliveries of an account through a running API',
    )
    .addHelpText('after', example('deliveries list --status 5xx'));
  withFilters(withApiOptions(deliveries.command('list'), 'account'))
    .description('list deliveries, newest first')
    .option('--since <time>', 'of events from this time on, such as 2027-01-31T12:00:00Z')
    .option('--until <time>', 'of events before this time')
    .option('--limit <n>', 'at most this many', wholeNumber(1, MAX_LISTED), 50)
    .addHelpText('after', example('deliveries list --status 5xx'))
    .action(list);
  withFilters(withExportOptions(deliveries.command('export')))
    .description('write all deliveries that match to a file, newest first')
    .option('--notification', 'add the notifications')
    .addHelpText('after', example('deliveries export --status failed -o failed.csv'))
    .action(exportAll);
  withApiOptions(deliveries.command('tail'), 'account')
    .description('print deliveries as they change, until Ctrl-C')
    .option('--webhook <id>', 'of this subscription', numericId)
    .addOption(stateOption())
    .addHelpText('after', example('deliveries tail'))
    .action(tail);
  withApiOptions(deliveries.command('show'), 'account')
    .argument('<id>', 'id of the delivery')
    .description('show a delivery and its newest attempts')
    .addHelpText('after', example('deliveries show 019a0b1c-2d3e-7f40-8a51-b26c73d84e95'))
    .action(show);
  withReplayOptions(withApiOptions(deliveries.command('send'), 'account'))
    .argument('[id...]', 'ids of deliveries; without them, those that filters select')
    .description('try waiting deliveries now, and send finished ones again')
    .option('--since <time>', 'made at this time or later, such as 2027-01-31T12:00:00Z')
    .addOption(
      new Option('--state <state>', 'in this state (default: all but succeeded)').choices(SENDABLE),
    )
    .addHelpText('after', example('deliveries send --since 2027-01-31T12:00:00Z --dry-run'))
    .action(send);
  withApiOptions(deliveries.command('redeliver'), 'account')
    .argument('<id...>', 'ids of deliveries')
    .description('send finished deliveries again')
    .addHelpText('after', example('deliveries redeliver 019a0b1c-2d3e-7f40-8a51-b26c73d84e95'))
    .action(changeEach('redeliver', 'sent again'));
  withApiOptions(deliveries.command('cancel'), 'account')
    .argument('<id...>', 'ids of deliveries')
    .description('cancel deliveries that wait for an attempt')
    .addHelpText('after', example('deliveries cancel 019a0b1c-2d3e-7f40-8a51-b26c73d84e95'))
    .action(changeEach('cancel', 'cancelled'));
}

function withFilters(command: Command): Command {
  return withDeliveryFilters(command)
    .addOption(stateOption())
    .option('--producer-id <key>', "of events with this key of the producer's")
    .option('--contains <text>', "of events with this text in their data, such as a call's id");
}

function stateOption(): Option {
  return new Option('--state <state>', 'in this state').choices(DELIVERY_STATES);
}

async function list(options: ListOptions, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const table = new Table(options, DELIVERY_COLUMNS);
  for await (const page of pagesOf(api, 'v1/deliveries', filtersOf(options), options.limit)) {
    table.add(
      page.map((one) => ({ value: one, cells: deliveryCells(JSON.parse(one) as Delivery) })),
    );
  }
  table.end('No deliveries match.');
}

function filtersOf(options: Filters) {
  const { webhook: webhookId, application: applicationId, state, event, status } = options;
  const { producerId, contains, since, until } = options;
  return { webhookId, applicationId, state, event, status, producerId, contains, since, until };
}

async function exportAll(
  options: ExportOptions & Filters & { notification?: true },
  command: Command,
): Promise<void> {
  const include = options.notification && 'notification';
  const filters = { ...filtersOf(options), include };
  const things = ['delivery', 'deliveries'] as const;
  await exportList({ path: 'v1/deliveries', things, filters }, options, command);
}

async function tail(options: ListOptions, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { webhook, state } = options;
  const table = new Table(options, [...DELIVERY_COLUMNS, { title: 'attempt' }]);
  let attempt = '';
  for await (const { event, data } of activityOf(api, stopSignal())) {
    if (event === 'open') complain('waiting for deliveries');
    if (event === 'interrupted') complain('some may be missing here: see deliveries list');
    if (event === 'attempt') attempt = resultOf(JSON.parse(data) as Attempt);
    if (event !== 'delivery') continue;
    const delivery = JSON.parse(data) as Delivery;
    const isWanted =
      (webhook ?? delivery.webhookId) === delivery.webhookId &&
      (state ?? delivery.state) === delivery.state;
    // The stream sends the delivery after each attempt.
    if (isWanted) table.add([{ value: data, cells: [...deliveryCells(delivery), attempt] }]);
    attempt = '';
  }
}

async function show(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('GET', pathOf(id));
  const delivery = JSON.parse(text) as Schemas['DeliveryWithAttempts'];
  print(options, text, deliveryText(delivery));
}

async function send(
  ids: readonly string[],
  options: ReplayOptions,
  command: Command,
): Promise<void> {
  if (ids.length === 0) {
    if (options.since === undefined) command.error('error: ids or --since are required');
    await startReplay({ path: 'v1/deliveries/send', done: 'sent now' }, options, command);
    return;
  }
  const given = command.options.find(
    (option) => OF_MANY.includes(option.name()) && command.getOptionValue(option.attributeName()),
  );
  if (given) command.error(`error: ids and ${given.long} exclude each other`);
  await changeEach('send', 'sent now')(ids, options, command);
}

/** Asks for an action on each delivery. @param done what it says about one */
function changeEach(action: 'send' | 'redeliver' | 'cancel', done: string) {
  return async (ids: readonly string[], options: Options, command: Command): Promise<void> => {
    const api = await apiOf(options, command);
    for (const id of ids) {
      const { href } = await api.json<{ href: string }>('POST', `${pathOf(id)}/${action}`);
      print(options, { id, href }, `${id} is ${done}: ${href}`);
    }
  };
}

function pathOf(id: string): string {
  return `v1/deliveries/${encodeURIComponent(id)}`;
}
