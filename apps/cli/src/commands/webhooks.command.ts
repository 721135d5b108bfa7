import { type Command, Option } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import { EVENT_KINDS } from '#libs/webhooks/domain';
import { type ApiOptions, apiOf, withApiOptions } from '../api/api-connection.js';
import { pagesOf, queryOf } from '../api/lists.js';
import { example, numericId, wholeNumber } from '../arguments.js';
import { confirm, type ConfirmOptions, mustAsk, withYes } from '../confirmation.js';
import { type OutputOptions, print } from '../output.js';
import { type BodyOptions, bodyOf, jsonOption, orNull, withFromFile } from '../request-body.js';
import { type Column, printObject, type Style, Table } from '../table.js';
import { addWebhookActions } from './webhook-actions.command.js';

type Webhook = Schemas['Webhook'];
type Options = ApiOptions & OutputOptions;

interface ListOptions extends Options {
  application?: string;
  event?: string;
  resource?: string;
  enabled?: boolean;
}

interface Fields extends Options, BodyOptions {
  application?: string;
  name?: string | false;
  event?: string;
  resource?: string;
  targetUrl?: string;
  payload?: string | false;
  filter?: string | false;
  retry?: string | false;
  maxPerSecond?: number | false;
  maxConcurrent?: number | false;
  ordered?: boolean;
  enabled?: boolean;
  signature?: string;
}

const SIGNATURES = ['hmac-sha256', 'ed25519'] satisfies Schemas['Signature'][];
const ID = 'id of the subscription';

/** `webhooks list|show|create|update|delete|pause|resume|test|secret` */
export function addWebhooksCommands(program: Command): void {
  const webhooks = program
    .command('webhooks')
    .description('manage the webhook subscriptions of an account through a running API')
    .addHelpText('after', example('webhooks list'));
  withApiOptions(webhooks.command('list'), 'account')
    .description('list all subscriptions')
    .option('--account <id>', 'of this account, for users of the role platform', numericId)
    .option('--application <id>', 'of this application', numericId)
    .addOption(new Option('--event <kind>', 'to events of this kind').choices(EVENT_KINDS))
    .option('--resource <resource>', 'to this resource, such as sms')
    .option('--enabled', 'that are enabled')
    .option('--no-enabled', 'that are disabled')
    .addHelpText('after', example('webhooks list --event smsdlr'))
    .action(list);
  withApiOptions(webhooks.command('show'), 'account')
    .argument('<id>', ID, numericId)
    .description('show a subscription')
    .option('--account <id>', 'of this account, for users of the role platform', numericId)
    .addHelpText('after', example('webhooks show 4711'))
    .action(show);
  const create = withFields(webhooks.command('create')).option(
    '--application <id>',
    'only to events of this application (default: to all of the account)',
    numericId,
  );
  withApiOptions(create, 'account')
    .description('create a subscription; it needs an event, a resource and a target URL')
    .addHelpText(
      'after',
      example(
        'webhooks create --event smsdlr --resource all --target-url https://hooks.example.com/sms',
      ),
    )
    .action(createOne);
  const update = withFields(webhooks.command('update'))
    .option('--no-name', 'remove it')
    .option('--no-payload', 'remove it')
    .option('--no-filter', 'remove it')
    .option('--no-retry', 'retry like the installation')
    .option('--no-max-per-second', 'remove it')
    .option('--no-max-concurrent', 'remove it');
  withApiOptions(update, 'account')
    .argument('<id>', ID, numericId)
    .description('change fields of a subscription')
    .addHelpText('after', example('webhooks update 4711 --resource call,sms'))
    .action(change);
  withApiOptions(withYes(webhooks.command('delete')), 'account')
    .argument('<id>', ID, numericId)
    .description('delete a subscription, and cancel its deliveries')
    .addHelpText('after', example('webhooks delete 4711'))
    .action(remove);
  addWebhookActions(webhooks);
}

function withFields(command: Command): Command {
  command
    .option('--name <name>', 'a label')
    .addOption(new Option('--event <kind>', 'the kind of events').choices(EVENT_KINDS))
    .option('--resource <resources>', 'what the events are about: all, or a list such as call,sms')
    .option('--target-url <url>', 'where to; with credentials in it, use --from-file')
    .option('--payload <json>', 'an object that each notification contains')
    .option('--filter <json>', 'conditions on the data, such as {"duration": {"gte": 60}}')
    .option('--retry <json>', 'such as {"schedule": [10, 60], "timeoutMs": 5000}')
    .option('--max-per-second <n>', 'the most notifications in a second', wholeNumber(1, 1_000))
    .option('--max-concurrent <n>', 'the most calls in flight', wholeNumber(1, 1_000))
    .option('--ordered', 'send one at a time, in the order of acceptance')
    .option('--no-ordered', 'send them at the same time')
    .addOption(
      new Option('--signature <method>', 'how notifications are signed').choices(SIGNATURES),
    )
    .option('--enabled', 'send notifications')
    .option('--no-enabled', 'send none');
  return withFromFile(command);
}

function bodyOfFields(options: Fields, command: Command): Promise<string> {
  const { name, event, resource, targetUrl, payload, filter, retry, enabled, signature } = options;
  const { maxPerSecond, maxConcurrent, ordered } = options;
  if (targetUrl !== undefined && hasCredentials(targetUrl)) {
    command.error(
      "error: option '--target-url' must have no credentials, which other users of this machine could see: use --from-file",
    );
  }
  const json = {
    payload: jsonOption('payload', payload, command),
    filter: jsonOption('filter', filter, command),
    retry: jsonOption('retry', retry, command),
  };
  const pace = {
    maxPerSecond: orNull(maxPerSecond),
    maxConcurrent: orNull(maxConcurrent),
    ordered,
  };
  const fields = { name: orNull(name), event, resource, targetUrl, ...json, ...pace };
  return bodyOf({ ...fields, enabled, signature }, options, command);
}

function hasCredentials(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && url.username + url.password !== '';
}

const COLUMNS: Column[] = [
  { title: 'id', isNumber: true },
  { title: 'state', styleOf: styleOfState },
  { title: 'event' },
  { title: 'resource' },
  { title: 'application', isNumber: true },
  { title: 'name' },
  { title: 'target' },
];

const STYLES: Record<string, Style> = {
  ok: 'green',
  paused: 'yellow',
  paced: 'yellow',
  untested: 'yellow',
  losing: 'red',
  failing: 'red',
  open: 'red',
};

function styleOfState(state: string): Style {
  return STYLES[state] ?? 'dim';
}

async function list(options: ListOptions, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { application, account: accountId, event, resource } = options;
  const enabled = options.enabled === undefined ? undefined : String(options.enabled);
  const filters = { include: 'activity', accountId, event, resource, enabled };
  const pages =
    application === undefined
      ? pagesOf(api, 'v1/webhooks', { scope: 'all', ...filters })
      : pagesOf(api, `v1/applications/${application}/webhooks`, filters);
  const table = new Table(options, COLUMNS);
  for await (const page of pages) {
    table.add(page.map((value) => ({ value, cells: cellsOf(JSON.parse(value) as Webhook) })));
  }
  table.end('No subscriptions match.');
}

function cellsOf(webhook: Webhook): (string | undefined)[] {
  const { id, event, resource, applicationId, name, targetUrl } = webhook;
  return [id, stateOf(webhook), event, resource, applicationId, name, targetUrl];
}

function stateOf({ enabled, disabledReason, paused, health, activity }: Webhook): string {
  if (!enabled) return disabledReason === undefined ? 'off' : `off (${disabledReason})`;
  if (paused) return 'paused';
  const { state = 'ok', pacedBy } = health ?? {};
  if (state !== 'ok') return state;
  if (pacedBy !== undefined) return 'paced';
  return activity && activity.lastSuccessAt === undefined ? 'untested' : state;
}

async function show(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const query = queryOf({ include: 'activity', accountId: options.account });
  const { text } = await api.ask('GET', pathOf(id) + query);
  printObject(options, text);
}

async function createOne(options: Fields, command: Command): Promise<void> {
  const body = await bodyOfFields(options, command);
  const api = await apiOf(options, command);
  const { application } = options;
  const path = application === undefined ? '' : `applications/${application}/`;
  const { text } = await api.ask('POST', `v1/${path}webhooks`, body);
  const created = JSON.parse(text) as Schemas['Address'];
  print(options, text, `created subscription ${idOf(created)}: ${created.href}`);
}

async function change(id: string, options: Fields, command: Command): Promise<void> {
  const body = await bodyOfFields(options, command);
  const api = await apiOf(options, command);
  const { text } = await api.ask('PUT', pathOf(id), body);
  print(options, text, `updated subscription ${id}`);
}

async function remove(
  id: string,
  options: Options & ConfirmOptions,
  command: Command,
): Promise<void> {
  const asks = mustAsk(options, command);
  const api = await apiOf(options, command);
  if (asks) {
    const { name, event, targetUrl } = await api.json<Webhook>('GET', pathOf(id));
    const what = name === undefined ? event : `${name}, ${event}`;
    await confirm(`Delete subscription ${id} (${what} to ${targetUrl})?`);
  }
  const { text } = await api.ask('DELETE', pathOf(id));
  print(options, text, `deleted subscription ${id}`);
}

function pathOf(id: string): string {
  return `v1/webhooks/${id}`;
}
