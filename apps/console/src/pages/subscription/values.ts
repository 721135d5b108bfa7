import type { Schemas } from '../../app/api.js';
import { rawMembers } from '../delivery/raw-json.js';

/** What the form of a subscription holds. */
export type SubscriptionValues = Record<keyof typeof SUBSCRIPTION_LABELS, string>;

export const SUBSCRIPTION_LABELS = {
  name: 'Name',
  event: 'Event',
  resource: 'About',
  targetUrl: 'Target URL',
  headers: 'Headers',
  payload: 'Payload',
  schedule: 'Retries',
  timeoutMs: 'Timeout',
  signature: 'Signature',
} as const;

/** Of the fields of the API that the form has. */
export const FORM_LABELS = { ...SUBSCRIPTION_LABELS, retry: 'Retries' };

export const NEW_SUBSCRIPTION: SubscriptionValues = {
  name: '',
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: '',
  headers: '',
  payload: '',
  schedule: '',
  timeoutMs: '',
  signature: 'hmac-sha256',
};

/** What stands in the form for no retries at all. */
const NO_RETRIES = 'none';

/** @param text the subscription's JSON, in which the numbers of its payload are unharmed */
export function subscriptionValues(webhook: Schemas['Webhook'], text: string): SubscriptionValues {
  const { name = '', event, resource, targetUrl, headers = {}, retry } = webhook;
  return {
    name,
    event,
    resource,
    targetUrl,
    headers: Object.entries(headers)
      .map(([header, value]) => `${header}: ${value}`)
      .join('\n'),
    payload: rawMembers(text).get('payload') ?? '',
    schedule: retry?.schedule?.length === 0 ? NO_RETRIES : (retry?.schedule ?? []).join(', '),
    timeoutMs: String(retry?.timeoutMs ?? ''),
    signature: webhook.signature ?? 'hmac-sha256',
  };
}

/** What is wrong with the form before it is sent: what could not be said in JSON. */
export function faultsIn({ payload, headers }: SubscriptionValues): Record<string, string> {
  const names = headerEntries(headers).map(([name]) => name);
  const repeated = names.find((name, index) => names.indexOf(name) < index);
  return {
    ...(payload.trim() !== '' && !isJson(payload) && { payload: 'payload must be valid JSON.' }),
    ...(repeated !== undefined && { headers: `${repeated} is there twice.` }),
  };
}

/**
 * The JSON text of a request that makes a subscription, or changes one that has these values. The payload goes
 * into it as it was typed: large numbers keep all their digits.
 */
export function bodyOf(values: SubscriptionValues, base?: SubscriptionValues): string {
  const isChanged = (name: keyof SubscriptionValues) => values[name] !== (base?.[name] ?? '');
  const members: [string, string][] = [];
  for (const name of ['name', 'event', 'resource', 'targetUrl', 'signature'] as const) {
    if (!isChanged(name)) continue;
    const isCleared = name === 'name' && values.name === '';
    members.push([name, isCleared ? 'null' : JSON.stringify(values[name])]);
  }
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
  return `{${members.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** `X-Api-Key: f2c1a0b9` on each line. What is no header goes to the API all the same, which says so. */
function headerEntries(text: string): [string, string][] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line) => {
    const [name = '', ...value] = line.split(':');
    return [name.trim(), value.join(':').trim()];
  });
}

function retryOf({ schedule, timeoutMs }: SubscriptionValues): object | null {
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

/** What is no number goes to the API as a text, which says so. */
function numberOf(text: string): number | string {
  const trimmed = text.trim();
  return trimmed === '' || Number.isNaN(Number(trimmed)) ? trimmed : Number(trimmed);
}
