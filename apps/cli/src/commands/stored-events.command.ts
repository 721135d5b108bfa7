import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { rawMember } from '#libs/kernel';
import { EVENT_KINDS } from '#libs/webhooks/domain';
import { type ApiOptions, apiOf, withApiOptions } from '../api/api-connection.js';
import { pagesOf } from '../api/lists.js';
import { example, numericId, wholeNumber } from '../arguments.js';
import { DELIVERY_COLUMNS, deliveryCells } from '../delivery-text.js';
import { exportList, type ExportOptions, withExportOptions } from '../export/export-list.js';
import { readableBody } from '../listen/notification-text.js';
import { type OutputOptions, print } from '../output.js';
import { printObject, Table } from '../table.js';

type Options = ApiOptions & OutputOptions;

const MAX_LISTED = 100_000;

interface Filters {
  event?: string;
  resource?: string;
  application?: string;
  account?: string;
  producerId?: string;
  unmatched?: true;
  missedBy?: string;
  contains?: string;
  since?: string;
  until?: string;
}

interface ListOptions extends Options, Filters {
  limit: number;
}

/** `events list|export|show` */
export function addStoredEventsCommands(events: Command): void {
  withFilters(withApiOptions(events.command('list'), 'account'))
    .description('list events, newest first')
    .option('--since <time>', 'accepted at this time or later, such as 2027-01-31T12:00:00Z')
    .option('--until <time>', 'accepted before this time')
    .option('--limit <n>', 'at most this many', wholeNumber(1, MAX_LISTED), 50)
    .addHelpText('after', example('events list --unmatched'))
    .action(list);
  withFilters(withExportOptions(events.command('export')))
    .description('write all events that match to a file, newest first')
    .option('--data', 'add their data')
    .addHelpText(
      'after',
      example('events export --since 2027-01-31T00:00:00Z --data -o events.csv'),
    )
    .action(exportAll);
  withApiOptions(events.command('show'), 'account')
    .argument('<id>', 'id of the event')
    .description('show an event, its newest deliveries, and which subscriptions were not told')
    .addHelpText('after', example('events show 019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'))
    .action(show);
}

function withFilters(command: Command): Command {
  return command
    .addOption(new Option('--event <kind>', 'of this kind').choices(EVENT_KINDS))
    .option('--resource <resource>', 'about this resource, such as sms')
    .option('--application <id>', 'of this application', numericId)
    .option('--account <id>', 'of this account, for users of the role platform', numericId)
    .option('--producer-id <key>', "with this key of the producer's")
    .option('--unmatched', 'only events without a delivery')
    .option('--missed-by <id>', 'that this subscription has missed', numericId)
    .option('--contains <text>', "with this text in their data, such as a call's id");
}

function filtersOf(options: Filters) {
  const { event, resource, application: applicationId, account: accountId } = options;
  const { producerId, missedBy, contains, since, until } = options;
  const unmatched = options.unmatched && 'true';
  return {
    ...{ event, resource, applicationId, accountId, producerId },
    ...{ unmatched, missedBy, contains, since, until },
  };
}

async function exportAll(
  options: ExportOptions & Filters & { data?: true },
  command: Command,
): Promise<void> {
  const filters = { ...filtersOf(options), include: options.data && 'data' };
  const things = ['event', 'events'] as const;
  await exportList({ path: 'v1/events', things, filters }, options, command);
}

async function list(options: ListOptions, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const table = new Table(options, [
    { title: 'created' },
    { title: 'id' },
    { title: 'event' },
    { title: 'resource' },
    { title: 'account', isNumber: true },
    { title: 'application', isNumber: true },
    { title: 'producer id' },
  ]);
  for await (const page of pagesOf(api, 'v1/events', filtersOf(options), options.limit)) {
    table.add(
      page.map((value) => ({ value, cells: cellsOf(JSON.parse(value) as Schemas['Event']) })),
    );
  }
  table.end('No events match.');
}

function cellsOf(one: Schemas['Event']): (string | undefined)[] {
  const { createdAt, id, event, resource, accountId, applicationId, producerId } = one;
  return [createdAt, id, event, resource, String(accountId), applicationId, producerId];
}

async function show(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('GET', `v1/events/${encodeURIComponent(id)}`);
  printObject(options, text, ['data', 'deliveries', 'unmatched']);
  if (options.json) return;
  const event = JSON.parse(text) as Schemas['EventReport'];
  print(options, text, readableBody(Buffer.from(rawMember(text, 'data')!)));
  const deliveries = new Table(options, DELIVERY_COLUMNS);
  const unmatched = new Table(options, [
    { title: 'not told', isNumber: true },
    { title: 'reason', styleOf: () => 'yellow' },
  ]);
  deliveries.add(event.deliveries.map((value) => ({ value, cells: deliveryCells(value) })));
  deliveries.end('No subscription was told.');
  unmatched.add(
    event.unmatched.map((value) => ({ value, cells: [value.webhookId, value.reason] })),
  );
}
