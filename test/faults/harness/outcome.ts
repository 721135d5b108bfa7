import { groupBy } from '#libs/kernel';
import type { FaultCase } from './fault-case.js';
import { judge, type Verdict } from './history/checker.js';
import { callOf, historyOf } from './history/collect.js';
import type { Call, Violation } from './history/history.js';
import type { Installation } from './installation.js';
import type { Arrival } from './receiver.js';

/** How many violations of each rule are printed. */
const PRINTED = 3;
/** When PostgreSQL is back after a minute, 1,500 requests are repeated at once, which takes 120 MB. */
const MEMORY = { peakMb: 300, growthMb: 150 };

/** A row of the report. */
export interface Outcome {
  name: string;
  /** Notifications of events that were answered with 202. */
  acknowledged: number;
  /** Notifications that the receiver confirmed. */
  arrived: number;
  lost: number;
  /** Confirmations after the first one of each notification. */
  duplicates: number;
  /** Duplicates that nothing could prevent, checked delivery by delivery; see history/checker.ts. */
  explained: number;
  /** Producers' requests without an answer, and with 503. All were repeated and accepted. */
  unanswered: number;
  unavailable: number;
  /** The time from the end of the fault until everything was delivered, in s; the longest of all rounds. */
  recoveryS: number;
  /** The largest growth of a process, in MB. */
  growthMb: number;
  peakMb: number;
  /** The measurements, a sentence each. */
  notes: string[];
  /** Broken promises, a sentence each. */
  broken: string[];
  /** PostgreSQL's rows of the first few unexplained duplicates. */
  evidence: string[];
}

/** Compares the acknowledged events with the notifications that arrived. */
export async function outcomeOf(
  faultCase: FaultCase,
  installation: Installation,
  recoveryS: number,
): Promise<Outcome> {
  const { producer, receiver, memory } = installation;
  const promised = producer.promised(installation.paths);
  const excused = (await faultCase.excused?.(installation)) ?? new Set<string>();
  for (const key of excused) promised.delete(key);
  const confirmed = receiver.confirmed();
  const arrived = [...promised].filter((key) => confirmed.has(key)).length;
  const calls = new Map(receiver.received.map((arrival) => [arrival, callOf(arrival)]));
  const verdict = await verdictOf(faultCase, installation, { calls: [...calls.values()], excused });
  const repeated = [...confirmed.values()].flatMap((arrivals) => arrivals.slice(0, -1));
  const explained = repeated.filter((earlier) => verdict.explained.has(calls.get(earlier)!));
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
  const rules = groupBy(verdict.violations, ({ rule }) => rule);
  outcome.broken = [
    ...brokenOf(faultCase, outcome),
    ...[...rules].map(([rule, found]) => `${rule}: ${found.length}`),
    ...producer.failures.wrong.slice(0, 3).map((answer) => `a producer got the answer ${answer}`),
    ...installation.followers
      .flatMap(({ wrong }) => wrong.slice(0, 3))
      .map((answer) => `a follower got the answer ${answer}`),
    ...sharedIds(receiver.received),
    ...installation.unexpectedEnds.map((how) => `a process ended unexpectedly: ${how}`),
    ...((await faultCase.check?.(installation)) ?? []),
  ];
  const unexplained = repeated.filter((one) => !explained.includes(one));
  outcome.evidence = [
    ...[...rules.values()].flatMap((found) => found.slice(0, PRINTED).map(sentence)),
    ...(await evidenceOf(violating(verdict), installation)),
    ...(await evidenceOf(
      unexplained.map(({ id }) => id),
      installation,
    )),
  ];
  return outcome;
}

/** The outcome of a case that failed in its set-up. The other cases continue. */
export function outcomeOfNone(name: string, error: unknown): Outcome {
  const reason = error instanceof Error ? error.message : String(error);
  const nothing = { acknowledged: 0, arrived: 0, lost: 0, duplicates: 0, explained: 0 };
  const unseen = { unanswered: 0, unavailable: 0, recoveryS: 0, growthMb: 0, peakMb: 0 };
  const broken = [`the case did not run: ${reason}`];
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
      `${String(outcome.duplicates)} duplicates, of which ${String(allowed)} are allowed`,
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

async function verdictOf(
  { latestMs }: FaultCase,
  installation: Installation,
  seen: { calls: readonly Call[]; excused: ReadonlySet<string> },
): Promise<Verdict> {
  const { schedule } = installation;
  const history = await historyOf(installation, seen);
  return judge(history, { schedule, ...(latestMs !== undefined && { latestMs }) });
}

function sentence({ rule, delivery, text }: Violation): string {
  return `${rule}: ${text}${delivery === undefined ? '' : ` (${delivery})`}`;
}

function violating({ violations }: Verdict): string[] {
  return [...new Set(violations.flatMap(({ delivery }) => delivery ?? []))];
}

/** If two notifications had the same id, a receiver would drop one of them. */
function sharedIds(arrivals: readonly Arrival[]): string[] {
  const contents = new Map<string, Set<string>>();
  for (const { id, path, number } of arrivals) {
    contents.set(id, (contents.get(id) ?? new Set()).add(`${path} ${String(number)}`));
  }
  const shared = [...contents.values()].filter((found) => found.size > 1).length;
  return shared === 0 ? [] : [`${String(shared)} ids were used for several notifications`];
}

async function evidenceOf(
  ids: readonly string[],
  { receiver, postgres }: Installation,
): Promise<string[]> {
  const evidence: string[] = [];
  for (const id of ids.slice(0, PRINTED)) {
    const arrived = receiver.received.filter((one) => one.id === id).map(callOf);
    const delivery = await postgres.query('SELECT * FROM deliveries WHERE id = $1', [id]);
    const attempts = await postgres.query(
      `SELECT take, number, at, duration_ms, status, error, worker FROM attempts
       WHERE delivery_id = $1 ORDER BY take`,
      [id],
    );
    evidence.push(JSON.stringify({ id, arrived, delivery, attempts }));
  }
  return evidence;
}
