import type { Schemas } from '../../app/api.js';
import type { Tone } from '../../components/notice.js';
import { durationText } from '../../components/time-text.js';

type Overview = Schemas['Overview'];

/** The result of one check. */
export interface Finding {
  tone: Exclude<Tone, 'neutral'>;
  /** A few words, such as `3 of 3 workers`. */
  check: string;
  text: string;
  /** What happens next, or what the operator can do. */
  advice?: string;
}

/** A summary of the installation, and its checks. Failing targets do not count: they are their customers' concern. */
export interface Health {
  tone: Finding['tone'];
  summary: string;
  /** Always in the same order. */
  findings: Finding[];
  /** The failed checks, worst first. */
  problems: Finding[];
}

/** The threshold of the alert SwitchhookDeliveriesLate. */
const LATE_S = 60;
const SLOW_S = 10;
/** Workers remove old data every five minutes. */
const OVERDUE_MS = 3_600_000;
const DAY_MS = 86_400_000;

const SEVERITY = { bad: 0, waiting: 1, good: 2 } as const;

/**
 * Checks the installation. @param now in ms
 */
export function healthOf(overview: Overview, now: number): Health {
  const findings = [
    backlogFinding(overview),
    workersFinding(overview),
    holdFinding(overview),
    apisFinding(overview),
    redisFinding(overview),
    storageFinding(overview, now),
    schemaFinding(overview),
    claimsFinding(overview),
    versionsFinding(overview),
  ].filter((finding) => finding !== undefined);
  const problems = findings
    .filter(({ tone }) => tone !== 'good')
    .sort((one, other) => SEVERITY[one.tone] - SEVERITY[other.tone]);
  return { tone: problems[0]?.tone ?? 'good', summary: summaryOf(problems), findings, problems };
}

function summaryOf([worst, ...others]: readonly Finding[]): string {
  if (!worst) return 'all systems work';
  const more = others.length > 0 ? `, and ${others.length} more` : '';
  return worst.check[0]!.toLowerCase() + worst.check.slice(1) + more;
}

function backlogFinding({ oldestDueS, failing }: Overview): Finding {
  const check = 'Nothing overdue';
  if (oldestDueS === undefined) return { tone: 'good', check, text: 'No delivery is overdue.' };
  const waited = `The oldest due delivery has waited ${durationText(oldestDueS * 1_000)}.`;
  if (oldestDueS <= SLOW_S) return { tone: 'good', check, text: `No delivery is late. ${waited}` };
  if (oldestDueS <= LATE_S) {
    const advice = 'If this grows, add workers.';
    return { tone: 'waiting', check: 'Deliveries slow', text: waited, advice };
  }
  // A target that fails or is slow delays only its own deliveries.
  return failing.length > 0
    ? {
        tone: 'waiting',
        check: 'Deliveries overdue',
        text: waited,
        advice: 'It may belong to a failing target. If no target below explains it, add workers.',
      }
    : {
        tone: 'bad',
        check: 'Deliveries late',
        text: `Deliveries are late. ${waited}`,
        advice: 'Add workers, unless PostgreSQL or Redis is the limit.',
      };
}

const isAlive = (process: { isAlive: boolean }): boolean => process.isAlive;

function workersFinding({ workers }: Overview): Finding {
  const alive = workers.filter(isAlive).length;
  if (alive === 0) {
    const text = 'No worker is alive, so nothing is sent.';
    const advice = 'Start a worker. Events are accepted, and wait for it.';
    return { tone: 'bad', check: 'No worker', text, advice };
  }
  const advice = 'The others take over what it was sending.';
  return silenceOf('worker', alive, workers.length, advice);
}

const HOLDS: Record<NonNullable<Overview['workers'][number]['hold']>['cause'], string> = {
  unreachable: 'no target answers',
  proxy: 'the egress proxy cannot be reached, or refuses',
  resolver: 'no DNS resolver answers',
  network: 'the host has no route, no permission or no network',
  resources: 'the host lacks file descriptors, memory or ports',
};

/** A fault on our own side keeps a worker from sending. */
function holdFinding({ workers }: Overview): Finding | undefined {
  const alive = workers.filter(isAlive);
  const holds = alive.flatMap(({ hold }) => hold ?? []);
  const [first] = holds;
  if (!first) return undefined;
  const which = alive.length === 1 ? 'The worker' : `${holds.length} of ${alive.length} workers`;
  return {
    tone: 'bad',
    check: 'Deliveries held',
    text: `${which} ${holds.length === 1 ? 'holds its' : 'hold their'} deliveries: ${HOLDS[first.cause]}.`,
    advice: 'No attempt is used up meanwhile. When a target answers, everything is sent.',
  };
}

function apisFinding({ apis }: Overview): Finding {
  const alive = apis.filter(isAlive).length;
  if (alive === 0) {
    const text = 'No API process has reported yet.';
    const advice = 'One answers this request, so it has probably just started.';
    return { tone: 'waiting', check: 'No API known', text, advice };
  }
  return silenceOf('API', alive, apis.length, 'Requests go to the others.');
}

function silenceOf(what: string, alive: number, all: number, advice: string): Finding {
  const check = `${alive} of ${all} ${what}${all === 1 ? '' : 's'}`;
  if (alive < all) {
    const text = `Only ${check} ${alive === 1 ? 'is' : 'are'} alive.`;
    return { tone: 'waiting', check, text, advice };
  }
  const text = alive === 1 ? `1 ${what} is alive.` : `${alive} ${what}s are alive.`;
  return { tone: 'good', check, text };
}

function redisFinding({ queues }: Overview): Finding {
  if (queues) return { tone: 'good', check: 'Redis answers', text: 'Redis answers.' };
  return {
    tone: 'bad',
    check: 'Redis is down',
    text: 'Redis does not answer.',
    advice:
      'Events are accepted, and workers find deliveries in PostgreSQL about half a second later. Start Redis again.',
  };
}

function storageFinding({ partitions, retention }: Overview, now: number): Finding {
  const tomorrow = new Date(now + DAY_MS).toISOString().slice(0, 10);
  if (!partitions.some(({ day }) => day === tomorrow)) {
    const text = `There is no partition for ${tomorrow}, so the events of that day cannot be stored.`;
    const advice = 'Run migrate, and look for errors in the logs.';
    return { tone: 'bad', check: `No partition for ${dayText(tomorrow)}`, text, advice };
  }
  const { nextDay, nextAt } = retention;
  if (nextAt !== undefined && now - Date.parse(nextAt) > OVERDUE_MS) {
    const text = `The data of ${nextDay ?? ''} should have been removed by now.`;
    return {
      tone: 'waiting',
      check: 'Removal overdue',
      text,
      advice: 'A long transaction, such as a backup, may be the cause.',
    };
  }
  const last =
    partitions
      .map(({ day }) => day)
      .sort()
      .at(-1) ?? tomorrow;
  return {
    tone: 'good',
    check: `Partitions to ${dayText(last)}`,
    text: 'There are partitions for the coming days.',
  };
}

const inDays = new Intl.DateTimeFormat('en', { month: 'short', day: 'numeric', timeZone: 'UTC' });
/** `Dec 4`: partitions are UTC days. */
const dayText = (day: string): string => inDays.format(new Date(day));

/** A process waits at its start for its migrations. */
function schemaFinding({ schemaVersion }: Overview): Finding {
  const text = `The newest migration is ${schemaVersion}.`;
  // Names end with a time in ms, whose last digits count up.
  return { tone: 'good', check: `Schema ${schemaVersion.slice(-4)}`, text };
}

function claimsFinding({ expiredClaims, lookedAt }: Overview): Finding | undefined {
  if (expiredClaims === 0) return undefined;
  return {
    tone: 'waiting',
    check: 'Deliveries left behind',
    text: `${expiredClaims} of ${lookedAt} unfinished deliveries ${expiredClaims === 1 ? 'was' : 'were'} left by a worker without an outcome.`,
    advice: 'Workers claim them again within seconds. If this grows, workers may be crashing.',
  };
}

function versionsFinding({ workers, apis }: Overview): Finding | undefined {
  const alive = [...workers, ...apis].filter(isAlive);
  const versions = [...new Set(alive.map(({ version }) => version))].sort();
  if (versions.length < 2) return undefined;
  const text = `The versions ${versions.join(', ')} run at the same time.`;
  const advice = 'This is expected during an upgrade.';
  return { tone: 'waiting', check: `${versions.length} versions`, text, advice };
}
