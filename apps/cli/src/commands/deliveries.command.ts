import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { DELIVERY_STATES } from '#libs/webhooks/domain';
import { activityOf } from '../api/activity.js';
import type { ApiConnection } from '../api/api-connection.js';
import { filtersOf, printList, withLimit } from '../api/lists.js';
import { numericId } from '../arguments.js';
import { addApiCommand, addCommand, type Options, refuseOptions, withApi } from '../command.js';
import { DELIVERY_COLUMNS, deliveryCells, deliveryText, resultOf } from '../delivery-text.js';
import { exportList, type ExportOptions, withExportOptions } from '../export/export-list.js';
import { complain, print } from '../output.js';
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

const SENDABLE = [
  'pending',
  'exhausted',
  'cancelled',
  'succeeded',
] satisfies Schemas['SendableState'][];

/** Options of `send` without ids. */
const OF_MANY = [
  ...['since', 'until', 'webhook', 'application', 'state', 'event', 'status'],
  ...['dryRun', 'wait'],
];
const AN_ID = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';

/** `deliveries list|export|tail|show|send|redeliver|cancel` */
export function addDeliveriesCommands(program: Command): void {
  const deliveries = addCommand(
    program,
    'deliveries',
    'list, export, show, send and cancel deliveries of an account through a running API',
    'list --status 5xx',
  );
  withLimit(
    withFilters(addApiCommand(deliveries, 'list', 'list deliveries, newest first', '--status 5xx'))
      .option('--since <time>', 'created at this time or later, such as 2027-01-31T12:00:00Z')
      .option('--until <time>', 'created before this time'),
  ).action(withApi(list));
  withFilters(
    withExportOptions(
      addCommand(
        deliveries,
        'export',
        'write all deliveries that match to a file, newest first',
        '--status failed -o failed.csv',
      ),
    ),
  )
    .option('--notification', 'add the notifications')
    .action(exportAll);
  addApiCommand(deliveries, 'tail', 'print deliveries as they change, until Ctrl-C')
    .option('--webhook <id>', 'of this subscription', numericId)
    .addOption(stateOption())
    .action(withApi(tail));
  addApiCommand(deliveries, 'show', 'show a delivery and its newest attempts', AN_ID)
    .argument('<id>', 'id of the delivery')
    .action(withApi(show));
  withReplayOptions(
    addApiCommand(
      deliveries,
      'send',
      'attempt pending deliveries now, and send finished ones again',
      '--since 2027-01-31T12:00:00Z --dry-run',
    ),
  )
    .argument('[id...]', 'ids of deliveries; without ids, filters select them')
    .option('--since <time>', 'created at this time or later, such as 2027-01-31T12:00:00Z')
    .addOption(
      new Option('--state <state>', 'in this state (default: all but succeeded)').choices(SENDABLE),
    )
    .action(send);
  addApiCommand(deliveries, 'redeliver', 'send finished deliveries again', AN_ID)
    .argument('<id...>', 'ids of deliveries')
    .action(changeEach('redeliver', 'sent again'));
  addApiCommand(deliveries, 'cancel', 'cancel pending deliveries', AN_ID)
    .argument('<id...>', 'ids of deliveries')
    .action(changeEach('cancel', 'cancelled'));
}

function withFilters(command: Command): Command {
  return withDeliveryFilters(command)
    .addOption(stateOption())
    .option('--producer-id <key>', "of events with this producer's key")
    .option('--contains <text>', "of events with this text in their data, such as a call's id");
}

function stateOption(): Option {
  return new Option('--state <state>', 'in this state').choices(DELIVERY_STATES);
}

function list(api: ApiConnection, options: Options & { limit: number }): Promise<void> {
  return printList<Delivery>(api, options, {
    path: 'v1/deliveries',
    filters: filtersOf(options),
    limit: options.limit,
    columns: DELIVERY_COLUMNS,
    cellsOf: deliveryCells,
    whenEmpty: 'No deliveries match.',
  });
}

async function exportAll(
  options: ExportOptions & { notification?: true },
  command: Command,
): Promise<void> {
  const include = options.notification && 'notification';
  const filters = { ...filtersOf(options), include };
  const things = ['delivery', 'deliveries'] as const;
  await exportList({ path: 'v1/deliveries', things, filters }, options, command);
}

async function tail(api: ApiConnection, options: Options): Promise<void> {
  const { webhook, state } = options;
  const table = new Table(options, [...DELIVERY_COLUMNS, { title: 'attempt' }]);
  let attempt = '';
  for await (const { event, data } of activityOf(api, stopSignal())) {
    if (event === 'open') complain('waiting for deliveries');
    if (event === 'interrupted')
      complain('some deliveries may be missing here: see deliveries list');
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

async function show(api: ApiConnection, options: Options, id: string): Promise<void> {
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
  refuseOptions(command, OF_MANY, (option) => `ids and ${option} exclude each other`);
  await changeEach('send', 'sent now')(ids, options, command);
}

/** Asks for an action on each delivery. @param done what it says about one */
function changeEach(action: 'send' | 'redeliver' | 'cancel', done: string) {
  return withApi(async (api, options: Options, ids: readonly string[]) => {
    for (const id of ids) {
      const { href } = await api.json<{ href: string }>('POST', `${pathOf(id)}/${action}`);
      print(options, { id, href }, `${id} is ${done}: ${href}`);
    }
  });
}

function pathOf(id: string): string {
  return `v1/deliveries/${encodeURIComponent(id)}`;
}
