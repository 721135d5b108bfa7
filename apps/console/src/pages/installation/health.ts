import type { Schemas } from '../../app/api.js';
import type { Tone } from '../../components/notice.js';
import { durationText } from '../../components/time-text.js';

type Overview = Schemas['Overview'];

/** Something about the installation, in plain words. */
export interface Finding {
  tone: Exclude<Tone, 'neutral'>;
  text: string;
  /** What happens next, or what the operator can do. */
  advice?: string;
}

/**
 * The installation in a few words, and everything about it, the worst first. Targets that fail are their customers', and
 * no part of it.
 */
export interface Health {
  tone: Finding['tone'];
  summary: string;
  findings: Finding[];
}

/** When the alert SwitchhookDeliveriesLate fires. */
const LATE_S = 60;
const SLOW_S = 10;
/** Workers remove old data every five minutes. */
const OVERDUE_MS = 3_600_000;
const DAY_MS = 86_400_000;

const SEVERITY = { bad: 0, waiting: 1, good: 2 } as const;
const SUMMARIES = {
  bad: 'something is broken or late',
  waiting: 'works, with something to watch',
  good: 'all systems work',
} as const;

/** Says what is healthy and what is not. @param now in ms */
export function healthOf(overview: Overview, now: number): Health {
  const findings = [
    backlogFinding(overview),
    workersFinding(overview),
    apisFinding(overview),
    redisFinding(overview),
    storageFinding(overview, now),
    claimsFinding(overview),
    versionsFinding(overview),
  ]
    .filter((finding) => finding !== undefined)
    .sort((one, other) => SEVERITY[one.tone] - SEVERITY[other.tone]);
  const tone = findings[0]?.tone ?? 'good';
  return { tone, summary: SUMMARIES[tone], findings };
}

function backlogFinding({ oldestDueS, failing }: Overview): Finding {
  if (oldestDueS === undefined) return { tone: 'good', text: 'No delivery is overdue.' };
  const waited = `The oldest due delivery has waited ${durationText(oldestDueS * 1_000)}.`;
  if (oldestDueS <= SLOW_S) return { tone: 'good', text: `No delivery is late. ${waited}` };
  if (oldestDueS <= LATE_S) {
    return { tone: 'waiting', text: waited, advice: 'If this grows, add workers.' };
  }
  // A target that fails or is slow holds back its own deliveries, and no others.
  return failing.length > 0
    ? {
        tone: 'waiting',
        text: waited,
        advice: 'It may be of a failing target. If no target below explains it, add workers.',
      }
    : {
        tone: 'bad',
        text: `Deliveries are late. ${waited}`,
        advice: 'Add workers, unless PostgreSQL or Redis is the limit.',
      };
}

const isAlive = (process: { isAlive: boolean }): boolean => process.isAlive;

function workersFinding({ workers }: Overview): Finding {
  const alive = workers.filter(isAlive).length;
  if (alive === 0) {
    const text = 'No worker is alive, so nothing is sent.';
    return { tone: 'bad', text, advice: 'Start a worker. Events are accepted, and wait for it.' };
  }
  const advice = 'The others take over what it was sending.';
  return silenceOf('worker', alive, workers.length, advice);
}

function apisFinding({ apis }: Overview): Finding {
  const alive = apis.filter(isAlive).length;
  if (alive === 0) {
    const text = 'No API has shown a sign of life.';
    return { tone: 'waiting', text, advice: 'One answers, so it has probably just started.' };
  }
  return silenceOf('API process', alive, apis.length, 'Requests go to the others.');
}

function silenceOf(what: string, alive: number, all: number, advice: string): Finding {
  const processes = `${what}${what.endsWith('s') ? 'es' : 's'}`;
  if (alive < all) {
    const text = `Only ${alive} of ${all} ${processes} ${alive === 1 ? 'is' : 'are'} alive.`;
    return { tone: 'waiting', text, advice };
  }
  const text = alive === 1 ? `1 ${what} is alive.` : `${alive} ${processes} are alive.`;
  return { tone: 'good', text };
}

function redisFinding({ queues }: Overview): Finding {
  if (queues) return { tone: 'good', text: 'Redis answers.' };
  return {
    tone: 'bad',
    text: 'Redis is away.',
    advice:
      'Events are accepted, and workers find deliveries in PostgreSQL about half a second later. Start Redis again.',
  };
}

function storageFinding({ partitions, retention }: Overview, now: number): Finding {
  const tomorrow = new Date(now + DAY_MS).toISOString().slice(0, 10);
  if (!partitions.some(({ day }) => day === tomorrow)) {
    const text = `There is no partition for ${tomorrow}, so the events of that day cannot be stored.`;
    return { tone: 'bad', text, advice: 'Run migrate, and look for errors in the logs.' };
  }
  const { nextDay, nextAt } = retention;
  if (nextAt !== undefined && now - Date.parse(nextAt) > OVERDUE_MS) {
    const text = `The data of ${nextDay ?? ''} should have been removed by now.`;
    return {
      tone: 'waiting',
      text,
      advice: 'A long transaction, such as a backup, may be the cause.',
    };
  }
  return { tone: 'good', text: 'There are partitions for the days to come.' };
}

function claimsFinding({ expiredClaims, lookedAt }: Overview): Finding | undefined {
  if (expiredClaims === 0) return undefined;
  return {
    tone: 'waiting',
    text: `${expiredClaims} of ${lookedAt} pending deliveries ${expiredClaims === 1 ? 'was' : 'were'} left by a worker without an outcome.`,
    advice: 'Workers claim them again within seconds. If this grows, workers may be crashing.',
  };
}

function versionsFinding({ workers, apis }: Overview): Finding | undefined {
  const alive = [...workers, ...apis].filter(isAlive);
  const versions = [...new Set(alive.map(({ version }) => version))].sort();
  if (versions.length < 2) return undefined;
  const text = `The versions ${versions.join(', ')} run at the same time.`;
  return { tone: 'waiting', text, advice: 'During an upgrade, this is right.' };
}
