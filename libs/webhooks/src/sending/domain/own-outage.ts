/**
 * Whose fault a missing answer is (contract, section 11). Targets fail one by one; if many that had answered before fail one
 * after the other and none answers meanwhile, our own network has failed. All rules are pure functions in this file.
 */

/** From this many hosts on, failures wait before they are booked. */
export const SUSPECTED_FROM = 3;
/** With this many hosts within {@link WITHIN_MS} of the first failure, the outage is ours. */
export const OURS_FROM = 5;
export const WITHIN_MS = 10_000;
/** While the outage lasts, one notification is sent in this time, each to another host. */
export const PROBE_EVERY_MS = 1_000;

interface Answering {
  kind: 'answering';
}

/** Hosts failed without an answer, in this order. */
interface Suspected {
  kind: 'suspected';
  since: number;
  hosts: readonly string[];
}

/** Our own network does not work. */
interface Outage {
  kind: 'outage';
}

/** What a worker has seen of its targets since one of them answered. Times are of a monotonic clock, in ms. */
export type Reachability = Answering | Suspected | Outage;

export const ANSWERING: Answering = { kind: 'answering' };

/** How a call ended, or that time has passed. */
export type Observation =
  | { kind: 'answer' }
  /** @param hadAnswered whether the host had answered before */
  | { kind: 'failure'; host: string; hadAnswered: boolean }
  | { kind: 'time' };

/** Whether a failure counts as an attempt. Undecided ones wait for the next decision. */
export type Fault = 'theirs' | 'undecided' | 'ours';

/** What follows from an observation. */
export interface Judgement {
  reachability: Reachability;
  /** Whose fault the observed failure is; absent if none was observed. */
  fault?: Fault;
  /** Whose fault the undecided failures are; absent if they stay undecided, or there are none. */
  undecided?: 'theirs' | 'ours';
}

/** @param now by the clock of the reachability */
export function judge(known: Reachability, seen: Observation, now: number): Judgement {
  if (seen.kind === 'answer') return { reachability: ANSWERING, undecided: 'theirs' };
  if (known.kind === 'outage') {
    return { reachability: known, ...(seen.kind === 'failure' && { fault: 'ours' }) };
  }
  const isOver = known.kind === 'suspected' && now - known.since >= WITHIN_MS;
  const current: Answering | Suspected = isOver ? ANSWERING : known;
  const before: Pick<Judgement, 'undecided'> = isOver ? { undecided: 'theirs' } : {};
  if (seen.kind === 'time') return { reachability: current, ...before };
  return { ...before, ...afterFailure(current, seen, now) };
}

function afterFailure(
  known: Answering | Suspected,
  { host, hadAnswered }: { host: string; hadAnswered: boolean },
  now: number,
): Judgement {
  // A host that never answered says nothing about our network.
  if (!hadAnswered) return { reachability: known, fault: 'theirs' };
  const { since, hosts }: Omit<Suspected, 'kind'> =
    known.kind === 'suspected' ? known : { since: now, hosts: [] };
  const failed = hosts.includes(host) ? hosts : [...hosts, host];
  if (failed.length >= OURS_FROM) {
    return { reachability: { kind: 'outage' }, fault: 'ours', undecided: 'ours' };
  }
  const fault = failed.length >= SUSPECTED_FROM ? 'undecided' : 'theirs';
  return { reachability: { kind: 'suspected', since, hosts: failed }, fault };
}
