import type { Schemas } from '../../app/api.js';
import { durationText } from '../../components/time-text.js';
import { isJson, rawMembers } from '../delivery/raw-json.js';
import { faultOfRows, filterOf, rowsOf, rowsOfFilter, valueOf } from './filter-rows.js';

/** The values of a subscription's form. */
export type SubscriptionValues = Record<keyof typeof SUBSCRIPTION_LABELS, string>;

export const SUBSCRIPTION_LABELS = {
  name: 'Name',
  event: 'Event',
  accounts: 'Of all accounts',
  resource: 'Resources',
  filter: 'Filter',
  targetUrl: 'Target URL',
  headers: 'Headers',
  payload: 'Payload',
  schedule: 'Retries',
  timeoutMs: 'Timeout',
  maxPerSecond: 'Notifications per second',
  maxConcurrent: 'Calls at once',
  ordered: 'One at a time, in order',
  signature: 'Signature',
} as const;

/** The API's fields that the form has. */
export const FORM_LABELS = {
  ...SUBSCRIPTION_LABELS,
  retry: 'Retries',
  'retry/schedule': 'Retries',
  'retry/timeoutMs': 'Timeout',
};

export const SIGNATURES: Readonly<Record<string, string>> = {
  'hmac-sha256': 'HMAC-SHA256',
  ed25519: 'Ed25519',
};

export const NEW_SUBSCRIPTION: SubscriptionValues = {
  name: '',
  event: 'cdrCreated',
  accounts: '',
  resource: 'all',
  filter: '',
  targetUrl: '',
  headers: '',
  payload: '',
  schedule: '',
  timeoutMs: '',
  maxPerSecond: '',
  maxConcurrent: '',
  ordered: '',
  signature: 'hmac-sha256',
};

/** The form's value for a ticked box; an empty one is not ticked. */
export const TICKED = 'true';

/** The form's value for no retries. */
const NO_RETRIES = 'none';

/**
 * @param text the subscription's JSON, which keeps all digits of the payload's numbers
 */
export function subscriptionValues(webhook: Schemas['Webhook'], text: string): SubscriptionValues {
  const { name = '', event, resource, targetUrl, headers = {}, retry } = webhook;
  const members = rawMembers(text);
  return {
    name,
    event,
    accounts: webhook.accounts ?? '',
    resource,
    filter: valueOf(rowsOfFilter(members.get('filter') ?? '{}')),
    targetUrl,
    headers: Object.entries(headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    payload: members.get('payload') ?? '',
    schedule: retry?.schedule?.length === 0 ? NO_RETRIES : (retry?.schedule ?? []).join(', '),
    timeoutMs: String(retry?.timeoutMs ?? ''),
    maxPerSecond: String(webhook.maxPerSecond ?? ''),
    maxConcurrent: String(webhook.maxConcurrent ?? ''),
    ordered: webhook.ordered ? TICKED : '',
    signature: webhook.signature ?? 'hmac-sha256',
  };
}

/** The form's faults that JSON cannot express, found before sending. */
export function faultsIn({ payload, headers, filter }: SubscriptionValues): Record<string, string> {
  const wrong = faultOfRows(rowsOf(filter));
  const names = headerEntries(headers).map(([name]) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  return {
    ...(payload.trim() !== '' && !isJson(payload) && { payload: 'Payload must be valid JSON.' }),
    ...(wrong !== undefined && { filter: wrong.message }),
    ...(repeated !== undefined && { headers: `${repeated} is given twice.` }),
  };
}

/**
 * The JSON text of a request that creates a subscription, or changes one with these values. It contains the payload as
 * typed, so that large numbers keep all their digits.
 */
export function bodyOf(values: SubscriptionValues, base?: SubscriptionValues): string {
  const isChanged = (name: keyof SubscriptionValues) => values[name] !== (base?.[name] ?? '');
  const members: [string, string][] = [];
  for (const name of ['name', 'event', 'resource', 'targetUrl', 'signature'] as const) {
    if (!isChanged(name)) continue;
    const isCleared = name === 'name' && values.name === '';
    members.push([name, isCleared ? 'null' : JSON.stringify(values[name])]);
  }
  if (isChanged('accounts')) {
    members.push(['accounts', values.accounts === '' ? 'null' : JSON.stringify(values.accounts)]);
  }
  if (isChanged('filter')) members.push(['filter', filterOf(rowsOf(values.filter)) ?? 'null']);
  if (isChanged('headers')) {
    const entries = headerEntries(values.headers);
    const headers = entries.length === 0 ? null : Object.fromEntries(entries);
    members.push(['headers', JSON.stringify(headers)]);
  }
  if (isChanged('payload')) {
    members.push(['payload', values.payload.trim() === '' ? 'null' : values.payload]);
  }
  if (isChanged('schedule') || isChanged('timeoutMs')) {
    members.push(['retry', JSON.stringify(retryOf(values))]);
  }
  for (const name of ['maxPerSecond', 'maxConcurrent'] as const) {
    if (!isChanged(name)) continue;
    members.push([
      name,
      JSON.stringify(values[name].trim() === '' ? null : numberOf(values[name])),
    ]);
  }
  if (isChanged('ordered')) members.push(['ordered', values.ordered === '' ? 'null' : 'true']);
  return `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

const countText = (count: number, what: string): string =>
  count === 1 ? `1 ${what}` : `${count} ${what}s`;

/** `2 headers` */
export function headersText({ headers }: Pick<SubscriptionValues, 'headers'>): string {
  const { length } = headerEntries(headers);
  return length === 0 ? 'none' : countText(length, 'header');
}

/** `3 fields` */
export function payloadText({ payload }: Pick<SubscriptionValues, 'payload'>): string {
  if (payload.trim() === '') return 'none';
  return isJson(payload) ? countText(rawMembers(payload).size, 'field') : 'not valid JSON';
}

/**
 * `3 retries over 11 minutes, timeout 5 s`
 * @param defaults what applies where a value is empty, once it is known
 */
export function retriesText(
  values: Pick<SubscriptionValues, 'schedule' | 'timeoutMs'>,
  defaults?: Retry,
): string {
  const given = retryOf(values);
  if (!given && !defaults) return 'default';
  const { schedule, timeoutMs } = { ...defaults, ...given };
  const ms = Number(timeoutMs);
  const timeout = timeoutMs !== undefined && ms >= 0 ? `, timeout ${durationText(ms)}` : '';
  return `${given ? '' : 'default: '}${scheduleText(schedule)}${timeout}`;
}

function scheduleText(schedule: Retry['schedule']): string {
  if (schedule === undefined) return 'default schedule';
  if (schedule.length === 0) return 'a single attempt';
  const seconds = schedule.reduce<number>((sum, delay) => sum + Number(delay), 0);
  const over = Number.isNaN(seconds) ? '' : ` over ${durationText(seconds * 1_000)}`;
  const count = schedule.length === 1 ? '1 retry' : `${schedule.length} retries`;
  return `${count}${over}`;
}

/** `at most 10 a second, 2 calls at once, in order` */
export function paceText({
  maxPerSecond,
  maxConcurrent,
  ordered,
}: Pick<SubscriptionValues, 'maxPerSecond' | 'maxConcurrent' | 'ordered'>): string {
  const parts = [
    maxPerSecond !== '' && `at most ${maxPerSecond} a second`,
    maxConcurrent !== '' && `${maxConcurrent} ${maxConcurrent === '1' ? 'call' : 'calls'} at once`,
    ordered !== '' && 'in order',
  ];
  return parts.filter((part) => part !== false).join(', ') || NO_PACE;
}

export const NO_PACE = 'no limit';

/** Reads `X-Api-Key: f2c1a0b9` from each line. Sends other lines as well, so that the API reports the fault. */
function headerEntries(text: string): [string, string][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [name = '', ...value] = line.split(':');
    return [name.trim(), value.join(':').trim()];
  });
}

interface Retry {
  schedule?: (number | string)[];
  timeoutMs?: number | string;
}

function retryOf({
  schedule,
  timeoutMs,
}: Pick<SubscriptionValues, 'schedule' | 'timeoutMs'>): Retry | null {
  const delays = schedule.trim().toLowerCase();
  const isEmpty = delays === '' && timeoutMs.trim() === '';
  if (isEmpty) return null;
  return {
    ...(delays !== '' && {
      schedule: delays === NO_RETRIES ? [] : delays.split(',').map(numberOf),
    }),
    ...(timeoutMs.trim() !== '' && { timeoutMs: numberOf(timeoutMs) }),
  };
}

/** Sends other input as text, so that the API reports the fault. */
function numberOf(text: string): number | string {
  const trimmed = text.trim();
  return trimmed === '' || Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
}
