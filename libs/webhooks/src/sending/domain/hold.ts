import { type HoldCause, LRUCache } from '#libs/kernel';
import {
  ANSWERING,
  judge,
  type Judgement,
  type Observation,
  PROBE_EVERY_MS,
  type Reachability,
  WITHIN_MS,
} from './own-outage.js';

/** During a hold, a host is called again no sooner than after this time, in ms. */
const SAME_HOST_MS = 5_000;
/** How soon another delivery is tried as a probe if the last one could not be sent, in ms. */
const NEXT_TRY_MS = 100;
/** How many hosts whose last call was answered are remembered. */
const REMEMBERED = 10_000;

/** A call without an answer. */
export interface Unanswered {
  host: string;
  /** Whether its subscription had succeeded before this worker started, and was not failing. */
  hadSucceeded: boolean;
  /** Until when the decision can wait, as `performance.now()`. */
  waitsUntil: number;
}

type Side = 'theirs' | 'ours';

/**
 * Decides whose fault a missing answer is, by the rules of `own-outage.ts`, and holds this worker's deliveries while it
 * is ours: at most one is sent in a second, each to another host.
 */
export class Hold {
  private reachability: Reachability = ANSWERING;
  /** Hosts whose last call was answered. */
  private readonly answering = new LRUCache<string, true>({ max: REMEMBERED });
  private isAnswered = false;
  /** Settles the calls that wait for the decision. */
  private readonly undecided = new Set<(side: Side) => void>();
  private expiry: NodeJS.Timeout | undefined;
  private probing: NodeJS.Timeout | undefined;
  private triedAt = -Infinity;
  private probedAt = -Infinity;
  private readonly probed = new Map<string, number>();
  private mayAdmit: () => void = () => undefined;

  /** @param changed told why a hold begins, and that it ends: `undefined` */
  constructor(
    private readonly changed: (cause: HoldCause | undefined) => void,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Whether any host has answered. Until then, this worker does not know which ones had before it started. */
  get hasAnswered(): boolean {
    return this.isAnswered;
  }

  get isOn(): boolean {
    return this.reachability.kind === 'outage';
  }

  answered(host: string): void {
    this.isAnswered = true;
    if (!this.answering.has(host)) this.answering.set(host, true);
    if (this.reachability.kind !== 'answering') this.observe({ kind: 'answer' });
  }

  /** @returns whose fault it is, once that is known; `ours` if it is not known in time */
  unanswered({ host, hadSucceeded, waitsUntil }: Unanswered): Side | Promise<Side> {
    const hadAnswered = this.answering.has(host) || (!this.isAnswered && hadSucceeded);
    const { fault = 'theirs' } = this.observe({ kind: 'failure', host, hadAnswered });
    return fault === 'undecided' ? this.decision(waitsUntil) : fault;
  }

  /** A call to the host failed on our own side, which needs no decision. */
  failedOnOurSide(host: string, cause: HoldCause): void {
    this.observe({ kind: 'failure', host, hadAnswered: true }, cause);
  }

  /** Whether a delivery may get a slot now. During a hold, as a probe. */
  admits(): boolean {
    if (!this.isOn) return true;
    const now = this.now();
    if (now < this.probedAt + PROBE_EVERY_MS || now < this.triedAt + NEXT_TRY_MS) return false;
    this.triedAt = now;
    return true;
  }

  /** Whether a host may be called now. During a hold, this counts as the probe. */
  allows(host: string): boolean {
    if (!this.isOn) return true;
    const now = this.now();
    if (now < this.probedAt + PROBE_EVERY_MS) return false;
    for (const [each, at] of this.probed) if (at + SAME_HOST_MS <= now) this.probed.delete(each);
    if (this.probed.has(host)) return false;
    this.probed.set(host, now);
    this.probedAt = now;
    return true;
  }

  /** @param mayAdmit called repeatedly during a hold, and at its end */
  whileOn(mayAdmit: () => void): void {
    this.mayAdmit = mayAdmit;
  }

  private decision(waitsUntil: number): Promise<Side> {
    if (this.undecided.size === 0 && this.reachability.kind === 'suspected') {
      // A timer may fire a millisecond early.
      const inMs = this.reachability.since + WITHIN_MS + 2 - this.now();
      this.expiry = setTimeout(() => this.observe({ kind: 'time' }), inMs).unref();
    }
    return new Promise((resolve) => {
      const settle = (side: Side): void => {
        clearTimeout(tooLate);
        this.undecided.delete(settle);
        resolve(side);
      };
      const tooLate = setTimeout(settle, waitsUntil - this.now(), 'ours');
      this.undecided.add(settle);
    });
  }

  private observe(observation: Observation, cause: HoldCause = 'unreachable'): Judgement {
    const before = this.reachability;
    const judgement = judge(before, observation, this.now());
    this.reachability = judgement.reachability;
    if (judgement.undecided !== undefined) this.decide(judgement.undecided, before);
    if (before.kind !== 'outage' && this.isOn) this.begin(cause);
    if (before.kind === 'outage' && !this.isOn) this.end();
    return judgement;
  }

  private decide(side: Side, before: Reachability): void {
    clearTimeout(this.expiry);
    for (const settle of [...this.undecided]) settle(side);
    // They are dead, and their retries prove nothing.
    if (side === 'ours' || before.kind !== 'suspected') return;
    for (const host of before.hosts) this.answering.delete(host);
  }

  private begin(cause: HoldCause): void {
    this.probing = setInterval(() => this.mayAdmit(), NEXT_TRY_MS).unref();
    this.changed(cause);
  }

  private end(): void {
    clearInterval(this.probing);
    this.probed.clear();
    this.mayAdmit();
    this.changed(undefined);
  }
}
