import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { rawMember } from '#libs/kernel';
import { EVENT_KINDS } from '#libs/webhooks/domain';
import type { ApiConnection } from '../api/api-connection.js';
import { filtersOf, printList, withLimit } from '../api/lists.js';
import { numericId } from '../arguments.js';
import { addApiCommand, addCommand, type Options, withAccount, withApi } from '../command.js';
import { DELIVERY_COLUMNS, deliveryCells } from '../delivery-text.js';
import { exportList, type ExportOptions, withExportOptions } from '../export/export-list.js';
import { followEvents } from '../follow-events.js';
import { readableBody } from '../listen/notification-text.js';
import { print } from '../output.js';
import { stopSignal } from '../stop-signal.js';
import { printObject, Table } from '../table.js';
import { addEraseEventsCommand } from './erase-events.command.js';

/** `events list|export|follow|show|erase` */
export function addStoredEventsCommands(events: Command): void {
  withLimit(
    withFilters(addApiCommand(events, 'list', 'list events, newest first', '--unmatched'))
      .option('--since <time>', 'accepted at this time or later, such as 2027-01-31T12:00:00Z')
      .option('--until <time>', 'accepted before this time'),
  ).action(withApi(list));
  withFilters(
    withExportOptions(
      addCommand(
        events,
        'export',
        'write all events that match to a file, newest first',
        '--since 2027-01-31T00:00:00Z --data -o events.csv',
      ),
    ),
  )
    .option('--data', 'add their data')
    .action(exportAll);
  withChoice(
    addApiCommand(
      events,
      'follow',
      'print each event once, as a line of JSON, until Ctrl-C',
      '--cursor-file events.cursor',
    ),
  )
    .option('--after <cursor>', 'begin after this cursor (default: now)')
    .option('--since <time>', 'begin at this time, such as 2027-01-31T12:00:00Z')
    .option(
      '--cursor-file <file>',
      'go on where this file says, and keep it up to date with what was printed',
    )
    .action(withApi(follow));
  addApiCommand(
    events,
    'show',
    'show an event, its newest deliveries, and which subscriptions did not get it',
    '019a0b1c-2d3c-7a10-9c77-04d6f1e2b388',
  )
    .argument('<id>', 'id of the event')
    .action(withApi(show));
  addEraseEventsCommand(events);
}

function withFilters(command: Command): Command {
  return withChoice(command)
    .option('--unmatched', 'only events without a delivery')
    .option('--missed-by <id>', 'that this subscription has missed', numericId);
}

/** Adds filters by what never changes in an event. */
function withChoice(command: Command): Command {
  command
    .addOption(new Option('--event <kind>', 'of this kind').choices(EVENT_KINDS))
    .option('--resource <resource>', 'about this resource, such as sms')
    .option('--application <id>', 'of this application', numericId);
  return withAccount(command)
    .option('--producer-id <key>', "with this producer's key")
    .option('--contains <text>', "with this text in their data, such as a call's id");
}

async function exportAll(
  options: ExportOptions & { data?: true },
  command: Command,
): Promise<void> {
  const filters = { ...filtersOf(options), include: options.data && 'data' };
  const things = ['event', 'events'] as const;
  await exportList({ path: 'v1/events', things, filters }, options, command);
}

async function follow(
  api: ApiConnection,
  { after, cursorFile, ...options }: Options & { after?: string; cursorFile?: string },
): Promise<void> {
  await followEvents(api, { ...filtersOf(options), after }, cursorFile, stopSignal());
}

function list(api: ApiConnection, options: Options & { limit: number }): Promise<void> {
  return printList<Schemas['Event']>(api, options, {
    path: 'v1/events',
    filters: filtersOf(options),
    limit: options.limit,
    columns: [
      { title: 'created' },
      { title: 'id' },
      { title: 'event' },
      { title: 'resource' },
      { title: 'account', isNumber: true },
      { title: 'application', isNumber: true },
      { title: 'producer id' },
    ],
    cellsOf: ({ createdAt, id, event, resource, accountId, applicationId, producerId }) => [
      ...[createdAt, id, event, resource, String(accountId), applicationId, producerId],
    ],
    whenEmpty: 'No events match.',
  });
}

async function show(api: ApiConnection, options: Options, id: string): Promise<void> {
  const { text } = await api.ask('GET', `v1/events/${encodeURIComponent(id)}`);
  printObject(options, text, ['data', 'deliveries', 'unmatched']);
  if (options.json) return;
  const event = JSON.parse(text) as Schemas['EventReport'];
  print(options, text, readableBody(Buffer.from(rawMember(text, 'data')!)));
  const deliveries = new Table(options, DELIVERY_COLUMNS);
  const unmatched = new Table(options, [
    { title: 'not sent to', isNumber: true },
    { title: 'reason', styleOf: () => 'yellow' },
  ]);
  deliveries.add(event.deliveries.map((value) => ({ value, cells: deliveryCells(value) })));
  deliveries.end('There are no deliveries.');
  unmatched.add(
    event.unmatched.map((value) => ({ value, cells: [value.webhookId, value.reason] })),
  );
}
