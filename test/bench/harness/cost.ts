import { readdirSync, readFileSync } from 'node:fs';
import type { Deployment } from './deployment.js';
import type { Site } from './site.js';

/** Of the kernel's clock that processes are charged by. */
const MICROSECONDS_A_TICK = 10_000;
/** In /proc/<pid>/stat, behind the name. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

/** What runs in a benchmark; the first four are the product. */
export const PARTS = ['API', 'worker', 'PostgreSQL', 'Redis', 'receiver', 'load'] as const;
export const PARTS_OF_PRODUCT = 4;

/** What each of the {@link PARTS} has used so far. */
export interface Cost {
  /** CPU time in µs. */
  cpu: number[];
  /** How often its threads went to sleep, to be woken up again. */
  wakeUps: number[];
}

export function costOf({ postgres, redis, receiver }: Site, deployment: Deployment): Cost {
  const pidsOf = (all: readonly { pid: number }[]) => all.map(({ pid }) => pid);
  const parts = [pidsOf(deployment.apis), pidsOf(deployment.workers), postgres.pids];
  parts.push([redis.pid], [receiver.pid], [process.pid]);
  return { cpu: parts.map(cpuOf), wakeUps: parts.map(wakeUpsOf) };
}

/** What an event cost, by part. */
export function costOfEvent(before: Cost, after: Cost, events: number): Cost {
  const each = (of: keyof Cost) =>
    after[of].map((total, part) => (total - before[of][part]!) / events);
  return { cpu: each('cpu'), wakeUps: each('wakeUps') };
}

/** CPU time that processes have used so far, µs; of one that is gone, none. */
export function cpuOf(pids: readonly number[]): number {
  return sumOf(pids, (pid) => {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME])) * MICROSECONDS_A_TICK;
  });
}

function wakeUpsOf(pids: readonly number[]): number {
  return sumOf(pids, (pid) => {
    const tasks = `/proc/${String(pid)}/task`;
    return sumOf(readdirSync(tasks), (task) => {
      const status = readFileSync(`${tasks}/${task}/status`, 'utf8');
      return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
    });
  });
}

/** What is gone counts nothing. */
function sumOf<Of>(all: readonly Of[], one: (of: Of) => number): number {
  return all.reduce((sum, of) => {
    try {
      return sum + one(of);
    } catch {
      return sum;
    }
  }, 0);
}
