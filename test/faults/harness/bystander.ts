import type pg from 'pg';
import type { Installation } from './installation.js';
import { PSQL } from './psql.js';
import { keyOf } from './receiver.js';

const LOOK_EVERY_MS = 200;

/** How much of the fault another customer may notice. */
export interface Bounds {
  /** Notifications that arrive, as a share of the events reported in that time. */
  rate: number;
  p99Ms: number;
  /** PostgreSQL backends that wait for a lock at the same time. */
  waiting: number;
}

export const UNDISTURBED: Bounds = { rate: 0.95, p99Ms: 2_000, waiting: 5 };

/** A time span in ms, and the highest number of backends that waited for a lock during it. */
export interface Span {
  from: number;
  to: number;
  waiting: number;
}

/** What the customer noticed during a span, at the first of its paths. */
export interface Experience extends Span {
  reported: number;
  rate: number;
  p50Ms: number;
  p99Ms: number;
  duplicates: number;
}

/** Counts the backends that wait for a lock while an action runs. */
export async function watched(
  { postgres }: Installation,
  work: () => Promise<unknown>,
): Promise<Span> {
  const client = await postgres.connect();
  const span = { from: Date.now(), to: Infinity, waiting: 0 };
  const looking = look(client, span);
  try {
    await work();
  } finally {
    span.to = Date.now();
    await looking;
    await client.end();
  }
  return span;
}

async function look(client: pg.Client, span: Span): Promise<void> {
  while (Date.now() < span.to) {
    const { rows } = await client.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM pg_stat_activity
       WHERE wait_event_type = 'Lock' AND application_name <> $1`,
      [PSQL],
    );
    span.waiting = Math.max(span.waiting, rows[0]?.count ?? 0);
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/**
 * Evaluates a span. Call it after everything has settled, when late and missing notifications are known. @param except
 * numbers of events that do not count
 */
export function experienceIn(
  span: Span,
  { producer, receiver, paths }: Installation,
  except: ReadonlySet<number> = new Set(),
): Experience {
  const [path = ''] = paths;
  const isWithin = (at: number) => at >= span.from && at < span.to;
  const firstAt = new Map<number, number>();
  for (const arrival of receiver.received) {
    if (arrival.path === path && arrival.earlier === 0) firstAt.set(arrival.number, arrival.at);
  }
  const reported = [...producer.accepted].filter(
    ([number, { reportedAt }]) => isWithin(reportedAt) && !except.has(number),
  );
  const delays = reported
    .map(([number, { reportedAt }]) => (firstAt.get(number) ?? Infinity) - reportedAt)
    .sort((one, other) => one - other);
  const at = (share: number) => delays[Math.floor(share * (delays.length - 1))] ?? NaN;
  const confirmed = receiver.confirmed();
  const times = reported.map(([number]) => confirmed.get(keyOf({ path, number }))?.length ?? 0);
  return {
    ...span,
    reported: reported.length,
    rate: [...firstAt.values()].filter(isWithin).length / reported.length,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    duplicates: times.reduce((sum, count) => sum + Math.max(count - 1, 0), 0),
  };
}

/** @returns a sentence for each exceeded bound */
export function breachesOf(seen: Experience, bounds: Bounds = UNDISTURBED): string[] {
  const rules = [
    [seen.rate >= bounds.rate, `the other account kept ${seen.rate.toFixed(2)} of its rate`],
    [seen.p99Ms <= bounds.p99Ms, `its p99 was ${seen.p99Ms.toFixed()} ms`],
    [seen.duplicates === 0, `${String(seen.duplicates)} of its notifications arrived twice`],
    [seen.waiting <= bounds.waiting, `${String(seen.waiting)} backends waited for locks`],
  ] as const;
  return rules.filter(([holds]) => !holds).map(([, breach]) => breach);
}

export function noteOf(seen: Experience): string {
  return (
    `the other account: ${seen.rate.toFixed(3)} of its rate, p50 ${seen.p50Ms.toFixed()} ms, ` +
    `p99 ${seen.p99Ms.toFixed()} ms, ${String(seen.duplicates)} duplicates; ` +
    `at most ${String(seen.waiting)} backends waited for locks`
  );
}
