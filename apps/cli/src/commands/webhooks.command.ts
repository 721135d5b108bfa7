import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { EVENT_KINDS } from '#libs/webhooks/domain';
import type { ApiConnection } from '../api/api-connection.js';
import { filtersOf, printList, webhooksPath } from '../api/lists.js';
import { numericId, wholeNumber } from '../arguments.js';
import { addCommand, type Options } from '../command.js';
import { type FieldOption, readJson } from '../request-body.js';
import { addResourceCommands } from '../resource-commands.js';
import type { Column, Style } from '../table.js';
import { addWebhookActions } from './webhook-actions.command.js';

type Webhook = Schemas['Webhook'];

interface ListOptions extends Options {
  enabled?: boolean;
}

const SIGNATURES = ['hmac-sha256', 'ed25519'] satisfies Schemas['Signature'][];
const CLEAR = 'remove it';
const JSON_OBJECT = { value: '<json>', read: readJson };
const PACE = { value: '<n>', parse: wholeNumber(1, 1_000), clear: CLEAR };

/** `headers` may be secret, so only a file gives them. */
const FIELDS: Record<Exclude<keyof Schemas['UpdateWebhook'], 'headers'>, FieldOption> = {
  name: { value: '<name>', does: 'a label for people', clear: CLEAR },
  event: { value: '<kind>', does: 'the kind of event', choices: EVENT_KINDS },
  resource: {
    value: '<resources>',
    does: 'what the events are about: all, or a list such as call,sms',
  },
  targetUrl: {
    value: '<url>',
    does: 'the URL to notify; if it has credentials, use --from-file',
    read: withoutCredentials,
  },
  payload: { ...JSON_OBJECT, does: 'an object that each notification contains', clear: CLEAR },
  filter: {
    ...JSON_OBJECT,
    does: 'conditions on the data, such as {"duration": {"gte": 60}}',
    clear: CLEAR,
  },
  retry: {
    ...JSON_OBJECT,
    does: 'the retry policy, such as {"schedule": [10, 60], "timeoutMs": 5000}',
    clear: 'use the retry policy of the installation',
  },
  maxPerSecond: { ...PACE, does: 'the maximum number of notifications per second' },
  maxConcurrent: { ...PACE, does: 'the maximum number of notifications in flight' },
  ordered: {
    does: 'send one at a time, in the order of acceptance',
    unset: 'send in parallel, in any order',
  },
  accounts: {
    value: '<accounts>',
    does: 'all: notices about the subscriptions of every account, for operators',
    choices: ['all'],
    clear: CLEAR,
  },
  signature: { value: '<method>', does: 'how notifications are signed', choices: SIGNATURES },
  enabled: { does: 'send notifications', unset: 'send no notifications' },
};

/** `webhooks list|show|create|update|delete|pause|resume|test|secret` */
export function addWebhooksCommands(program: Command): void {
  const webhooks = addCommand(
    program,
    'webhooks',
    'manage the webhook subscriptions of an account through a running API',
    'list',
  );
  addResourceCommands<Webhook>(webhooks, {
    name: ['a', 'subscription'],
    path: 'v1/webhooks',
    does: {
      create: 'create a subscription; it needs an event, a resource and a target URL',
      delete: 'delete a subscription, and cancel its deliveries',
    },
    examples: {
      list: '--event smsdlr',
      show: '4711',
      create: '--event smsdlr --resource all --target-url https://hooks.example.com/sms',
      update: '4711 --resource call,sms',
      delete: '4711',
    },
    fields: FIELDS,
    include: 'activity',
    list,
    withCreateOptions: (create) =>
      create.option(
        '--application <id>',
        'only events of this application (default: of all applications)',
        numericId,
      ),
    createPath: ({ application }) => webhooksPath(application),
    named: ({ name, event, targetUrl }) =>
      `(${name === undefined ? event : `${name}, ${event}`} to ${targetUrl})`,
  })
    .option('--application <id>', 'only of this application', numericId)
    .addOption(new Option('--event <kind>', 'only to this kind of event').choices(EVENT_KINDS))
    .option('--resource <resource>', 'only to this resource, such as sms')
    .option('--enabled', 'only enabled ones')
    .option('--no-enabled', 'only disabled ones');
  addWebhookActions(webhooks);
}

function withoutCredentials(text: string, option: string, command: Command): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && url.username + url.password !== '') {
    command.error(
      `error: option '--${option}' must have no credentials, which other users of this machine could see: use --from-file`,
    );
  }
  return text;
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

function list(api: ApiConnection, options: ListOptions): Promise<void> {
  const { application, enabled, ...filters } = options;
  return printList<Webhook>(api, options, {
    path: webhooksPath(application),
    filters: {
      ...filtersOf(filters),
      include: 'activity',
      enabled: enabled === undefined ? undefined : String(enabled),
      scope: application === undefined ? 'all' : undefined,
    },
    columns: COLUMNS,
    cellsOf: (webhook) => {
      const { id, event, resource, applicationId, name, targetUrl } = webhook;
      return [id, stateOf(webhook), event, resource, applicationId, name, targetUrl];
    },
    whenEmpty: 'No subscriptions match.',
  });
}

function stateOf({ enabled, disabledReason, paused, health, activity }: Webhook): string {
  if (!enabled) return disabledReason === undefined ? 'disabled' : `disabled (${disabledReason})`;
  if (paused) return 'paused';
  const { state = 'ok', pacedBy } = health ?? {};
  if (state !== 'ok') return state;
  if (pacedBy !== undefined) return 'paced';
  return activity && activity.lastSuccessAt === undefined ? 'untested' : state;
}
