import type { Installation } from '../installation.js';
import { type Arrival, keyOf } from '../receiver.js';
import type { Attempt, Call, Delivery, History, Subscription } from './history.js';

/**
 * Collects the history of the subscriptions that the installation started with. @param excused notifications that need
 * not arrive; an event with only such notifications may be lost
 */
export async function historyOf(
  installation: Installation,
  { calls, excused }: { calls: readonly Call[]; excused: ReadonlySet<string> },
): Promise<History> {
  const { targets, paths, producer, followers, postgres, actions, harms } = installation;
  const mayBeLost = (number: number) => paths.every((path) => excused.has(keyOf({ path, number })));
  const accepted = [...producer.accepted].filter(([number]) => !mayBeLost(number));
  const paces = new Map((await postgres.query<PaceRow>(PACES)).map((row) => [row.id, row]));
  return {
    subscriptions: [...targets.values()].map(({ subscription, url }) => {
      const id = subscription.slice(subscription.lastIndexOf('/') + 1);
      return { id, target: url.pathname + url.search, ...paceOf(paces.get(id)) };
    }),
    accepted: accepted.map(([, { eventId, reportedAt, at }]) => ({
      eventId,
      from: reportedAt,
      to: at,
    })),
    feeds: followers.map(({ ids }) => ids),
    calls,
    deliveries: (await postgres.query<DeliveryRow>(DELIVERIES)).map(deliveryOf),
    attempts: (await postgres.query<AttemptRow>(ATTEMPTS)).map(attemptOf),
    actions,
    harms,
    endedAt: Date.now(),
  };
}

export function callOf(arrival: Arrival): Call {
  const { id, target, headers, at, reused, answer, writtenAt, endedAt = Infinity } = arrival;
  return {
    delivery: id,
    target,
    worker: String(headers['x-process-id']),
    at,
    signedAt: Number(headers['webhook-timestamp']) * 1_000,
    reused,
    ...(answer !== undefined && { answer }),
    ...(writtenAt !== undefined && { writtenAt }),
    endedAt,
  };
}

const PACES = 'SELECT id, max_per_second, max_concurrent, ordered FROM webhooks';

interface PaceRow {
  id: string;
  max_per_second: number | null;
  max_concurrent: number | null;
  ordered: boolean;
}

function paceOf(row: PaceRow | undefined): Partial<Subscription> {
  if (!row) return {};
  return {
    ...(row.max_per_second !== null && { maxPerSecond: row.max_per_second }),
    ...(row.max_concurrent !== null && { maxConcurrent: row.max_concurrent }),
    ordered: row.ordered,
  };
}

const DELIVERIES = `
  SELECT id, event_id, webhook_id, created_at, state, reason, attempts, schedule_base,
    coalesce(extra_attempts, 0) AS extra_attempts, claimed_until
  FROM deliveries`;

interface DeliveryRow {
  id: string;
  event_id: string;
  webhook_id: string;
  created_at: Date;
  state: string;
  reason: string | null;
  attempts: number;
  schedule_base: number;
  extra_attempts: number;
  claimed_until: Date | null;
}

function deliveryOf(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    eventId: row.event_id,
    subscription: row.webhook_id,
    createdAt: row.created_at.getTime(),
    state: row.state,
    ...(row.reason !== null && { reason: row.reason }),
    attempts: row.attempts,
    scheduleBase: row.schedule_base,
    extraAttempts: row.extra_attempts,
    ...(row.claimed_until && { leasedUntil: row.claimed_until.getTime() }),
  };
}

// The second part of a worker's id is its process id.
const ATTEMPTS = `
  SELECT delivery_id, take, number, at, duration_ms, status, error,
    split_part(worker, ':', 2) AS process,
    CASE WHEN status IN (429, 503) THEN response_headers::json ->> 'retry-after' END AS retry_after
  FROM attempts`;

interface AttemptRow {
  delivery_id: string;
  take: number;
  number: number;
  at: Date;
  duration_ms: number;
  status: number | null;
  error: string | null;
  process: string | null;
  retry_after: string | null;
}

function attemptOf(row: AttemptRow): Attempt {
  // Ignores dates: they have no milliseconds, and the time from which they were computed is not known exactly.
  const seconds = /^\d+$/.test(row.retry_after ?? '') ? Number(row.retry_after) : undefined;
  return {
    delivery: row.delivery_id,
    take: row.take,
    number: row.number,
    at: row.at.getTime(),
    durationMs: row.duration_ms,
    ...(row.status !== null && { status: row.status }),
    ...(row.error !== null && { error: row.error }),
    ...(row.process !== null && { worker: row.process }),
    ...(seconds !== undefined && { retryAfterMs: seconds * 1_000 }),
  };
}
