import type { Schemas } from '#libs/client';
import { plural, row } from './output.js';
import type { Column, Style } from './table.js';

type Delivery = Schemas['Delivery'];

const STYLES: Record<Schemas['DeliveryState'], Style> = {
  pending: 'cyan',
  parked: 'yellow',
  succeeded: 'green',
  exhausted: 'red',
  cancelled: 'dim',
};

/** The columns of deliveries in a table. */
export const DELIVERY_COLUMNS: readonly Column[] = [
  { title: 'created', width: 24 },
  { title: 'id', width: 36 },
  { title: 'state', width: 9, styleOf: (state) => STYLES[state as keyof typeof STYLES] },
  { title: 'attempts', isNumber: true },
  { title: 'event', width: 18 },
  { title: 'webhook', isNumber: true },
  { title: 'target' },
];

export function deliveryCells({ createdAt, id, state, ...others }: Delivery): string[] {
  const { attempts, webhookId, targetUrl } = others;
  return [createdAt, id, state, String(attempts), kindOf(others), webhookId, targetUrl];
}

/** `cdrCreated call`, `cdrCreated call test` */
function kindOf({ event, resource, test }: Pick<Delivery, 'event' | 'resource' | 'test'>): string {
  return `${event} ${resource}${test ? ' test' : ''}`;
}

export function counted(deliveries: number): string {
  return `${deliveries} ${plural(deliveries, 'delivery', 'deliveries')}`;
}

/** A delivery with its newest attempts, in several lines. */
export function deliveryText(delivery: Schemas['DeliveryWithAttempts']): string {
  const { id, webhookId, eventId, targetUrl, state, attempts } = delivery;
  const { reason, nextAttemptAt, waitsFor, attemptLog } = delivery;
  const verdict = [
    `${state} after ${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}`,
    ...(reason === undefined ? [] : [reason]),
    ...(nextAttemptAt === undefined ? [] : [nextOf(nextAttemptAt)]),
    ...(waitsFor === 'hold' ? ['the network of the service reaches no target at the moment'] : []),
    ...(state === 'parked' ? ['its subscription is paused, or its `health` says why'] : []),
  ].join(', ');
  const about = `${id}: ${kindOf(delivery)} for subscription ${webhookId}, event ${eventId}`;
  const log = attemptLog.map((attempt) =>
    row([String(attempt.number), -3], [attempt.at, 24], [resultOf(attempt), 0]),
  );
  const said = attemptLog.at(-1)?.responseBody?.split('\n', 1)[0];
  const answer = said ? [`the last response began with: ${said}`] : [];
  return [verdict, about, `to ${targetUrl}`, ...log, ...answer].join('\n');
}

/** A due delivery waits for the pace of its subscription, or for a free slot. */
function nextOf(nextAttemptAt: string): string {
  const isDue = Date.parse(nextAttemptAt) <= Date.now();
  return isDue ? `due since ${nextAttemptAt}` : `next attempt at ${nextAttemptAt}`;
}

/** How an attempt ended, in a few words. */
export function resultOf(attempt: Schemas['Attempt']): string {
  const { status, error, detail, durationMs, address } = attempt;
  const from = address === undefined ? '' : ` from ${address}`;
  const what = detail === undefined ? '' : ` (${detail})`;
  return `${status ?? error}${what} in ${durationMs} ms${from}`;
}
