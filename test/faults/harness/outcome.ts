import type { FaultCase } from './fault-case.js';
import type { Installation } from './installation.js';
import type { Arrival } from './receiver.js';

/** An answer is on its way to the worker, or being recorded, no longer than this. */
const RECORDING_MS = 3_000;
/** When PostgreSQL is back after a minute, 1,500 producers repeat at once: that takes 120 MB. */
const MEMORY = { peakMb: 300, growthMb: 150 };

/** A row of the report. */
export interface Outcome {
  name: string;
  /** Notifications that follow from events answered with 202. */
  acknowledged: number;
  /** Those that the receiver has confirmed. */
  arrived: number;
  lost: number;
  /** Confirmations beyond the first one of a notification. */
  duplicates: number;
  /** Those of which an answer could not be received or recorded. */
  explained: number;
  /** Requests of producers without an answer, and with 503; all were repeated and accepted. */
  unanswered: number;
  unavailable: number;
  /** From the end of the harm until all was delivered, s; the longest of all rounds. */
  recoveryS: number;
  /** The most that a process grew, MB. */
  growthMb: number;
  peakMb: number;
  /** What was measured, a sentence each. */
  notes: string[];
  /** What is not as promised, a sentence each. */
  broken: string[];
  /** What PostgreSQL has on the first few duplicates that have no explanation. */
  evidence: string[];
}

/** Compares what was acknowledged with what arrived. */
export async function outcomeOf(
  faultCase: FaultCase,
  installation: Installation,
  recoveryS: number,
): Promise<Outcome> {
  const { producer, receiver, memory } = installation;
  const promised = producer.promised(installation.paths);
  for (const key of (await faultCase.excused?.(installation)) ?? []) promised.delete(key);
  const confirmed = receiver.confirmed();
  const arrived = [...promised].filter((key) => confirmed.has(key)).length;
  const recorded =
    faultCase.duplicates === 'late' ? undefined : await recordedSuccesses(installation);
  const repeated = [...confirmed.values()].flatMap((arrivals) => arrivals.slice(0, -1));
  const explained = repeated.filter((earlier) => isExplained(earlier, installation, recorded));
  const outcome: Outcome = {
    name: faultCase.name,
    acknowledged: promised.size,
    arrived,
    lost: promised.size - arrived,
    duplicates: repeated.length,
    explained: explained.length,
    unanswered: producer.failures.unanswered,
    unavailable: producer.failures.unavailable,
    recoveryS,
    growthMb: memory.growth,
    peakMb: memory.peak,
    notes: faultCase.notes?.(installation) ?? [],
    broken: [],
    evidence: [],
  };
  outcome.broken = [
    ...brokenOf(faultCase, outcome),
    ...producer.failures.wrong.slice(0, 3).map((answer) => `a producer was answered ${answer}`),
    ...sharedIds(receiver.arrivals),
    ...installation.unexpectedEnds.map((how) => `a process needed a hand: ${how}`),
    ...((await faultCase.check?.(installation)) ?? []),
  ];
  outcome.evidence = await evidenceOf(
    repeated.filter((one) => !explained.includes(one)),
    installation,
  );
  return outcome;
}

/** That of a case that could not be set up: the others go on. */
export function outcomeOfNone(name: string, error: unknown): Outcome {
  const reason = error instanceof Error ? error.message : String(error);
  const nothing = { acknowledged: 0, arrived: 0, lost: 0, duplicates: 0, explained: 0 };
  const unseen = { unanswered: 0, unavailable: 0, recoveryS: 0, growthMb: 0, peakMb: 0 };
  const broken = [`it could not be run: ${reason}`];
  return { name, ...nothing, ...unseen, notes: [], broken, evidence: [] };
}

function brokenOf(faultCase: FaultCase, outcome: Outcome): string[] {
  const { producersNotice: notice, duplicates, memory = MEMORY } = faultCase;
  const { unanswered, unavailable, explained, peakMb, growthMb } = outcome;
  const allowed = duplicates === 'none' ? 0 : explained;
  const rules: [boolean, string][] = [
    [outcome.acknowledged > 0, 'nothing was acknowledged'],
    [outcome.lost === 0, `${String(outcome.lost)} notifications were lost`],
    [
      outcome.duplicates <= allowed,
      `${String(outcome.duplicates)} duplicates, of which ${String(allowed)} may be`,
    ],
    [
      unanswered === 0 || notice === 'unanswered' || notice === 'either',
      `${String(unanswered)} requests were not answered`,
    ],
    [
      unavailable === 0 || notice === 'unavailable' || notice === 'either',
      `${String(unavailable)} requests were answered with 503`,
    ],
    [peakMb <= memory.peakMb, `a process took ${peakMb.toFixed()} MB`],
    [growthMb <= memory.growthMb, `a process grew by ${growthMb.toFixed()} MB`],
  ];
  return rules.filter(([holds]) => !holds).map(([, breach]) => breach);
}

/**
 * Whether an answer to a notification that came again could not be received or recorded in time:
 * something stood in the way at that moment, and where it cannot be recorded late, PostgreSQL
 * knows of fewer successes than the receiver.
 */
function isExplained(
  { id, confirmedAt = 0 }: Arrival,
  { hindrances, receiver }: Installation,
  recorded: ReadonlyMap<string, number> | undefined,
): boolean {
  const answers = receiver.arrivals.filter((one) => one.id === id && one.confirmedAt !== undefined);
  return (
    (!recorded || (recorded.get(id) ?? 0) < answers.length) &&
    hindrances.some(({ from, to }) => confirmedAt <= to && confirmedAt + RECORDING_MS >= from)
  );
}

/** How many attempts with 2xx are on record, by notification. */
async function recordedSuccesses({ postgres }: Installation): Promise<Map<string, number>> {
  const rows = await postgres.query<{ id: string; count: number }>(
    `SELECT delivery_id AS id, count(*)::integer AS count FROM attempts
     WHERE status BETWEEN 200 AND 299 GROUP BY delivery_id`,
  );
  return new Map(rows.map(({ id, count }) => [id, count]));
}

/** An id that stands for two notifications would make a receiver drop one of them. */
function sharedIds(arrivals: readonly Arrival[]): string[] {
  const contents = new Map<string, Set<string>>();
  for (const { id, path, number } of arrivals) {
    contents.set(id, (contents.get(id) ?? new Set()).add(`${path} ${String(number)}`));
  }
  const shared = [...contents.values()].filter((found) => found.size > 1).length;
  return shared === 0 ? [] : [`${String(shared)} ids were used twice`];
}

async function evidenceOf(
  unexplained: readonly Arrival[],
  { receiver, postgres }: Installation,
): Promise<string[]> {
  const evidence: string[] = [];
  for (const { id } of unexplained.slice(0, 3)) {
    const arrived = receiver.arrivals.filter((one) => one.id === id);
    const delivery = await postgres.query('SELECT * FROM deliveries WHERE id = $1', [id]);
    const attempts = await postgres.query(
      `SELECT take, number, at, duration_ms, status, error FROM attempts WHERE delivery_id = $1`,
      [id],
    );
    const times = arrived.map(({ at }) => new Date(at).toISOString());
    evidence.push(JSON.stringify({ id, arrived: times, delivery, attempts }));
  }
  return evidence;
}
