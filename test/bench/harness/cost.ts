import { readdirSync, readFileSync } from 'node:fs';
import type { Deployment } from './deployment.js';
import type { Site } from './site.js';

/** Of the kernel's clock that processes are charged by. */
const MICROSECONDS_A_TICK = 10_000;
/** In /proc/<pid>/stat, behind the name: user and system time, of the process and of its children that ended. */
const TIMES = [11, 12, 13, 14];

/** What runs in a benchmark; the first four are the product. */
export const PARTS = ['API', 'worker', 'PostgreSQL', 'Redis', 'receiver', 'load'] as const;
export const PARTS_OF_PRODUCT = 4;

/** What each of the {@link PARTS} used for an event. */
export interface Cost {
  /** CPU time in µs. */
  cpu: number[];
  /** How often its threads went to sleep, to be woken up again. */
  wakeUps: number[];
}

/** What each process of the {@link PARTS} has used so far. */
interface Used {
  cpu: number[];
  wakeUps: Map<number, number>[];
}

export function used({ postgres, redis, receiver }: Site, deployment: Deployment): Used {
  const pidsOf = (all: readonly { pid: number }[]) => all.map(({ pid }) => pid);
  const parts = [pidsOf(deployment.apis), pidsOf(deployment.workers), postgres.pids];
  parts.push([redis.pid], [receiver.pid], [process.pid]);
  return {
    cpu: parts.map(cpuOf),
    wakeUps: parts.map((pids) => new Map(pids.map((pid) => [pid, wakeUpsOf(pid)]))),
  };
}

/** What an event cost, by part. Wake-ups of processes that ended meanwhile are not known. */
export function costOfEvent(before: Used, after: Used, events: number): Cost {
  return {
    cpu: after.cpu.map((total, part) => (total - before.cpu[part]!) / events),
    wakeUps: after.wakeUps.map(
      (all, part) =>
        sumOf([...all], ([pid, total]) => total - (before.wakeUps[part]!.get(pid) ?? 0)) / events,
    ),
  };
}

/** CPU time that processes have used so far, µs; of one that is gone, none. */
export function cpuOf(pids: readonly number[]): number {
  return sumOf(pids, (pid) => {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return sumOf(TIMES, (at) => Number(fields[at])) * MICROSECONDS_A_TICK;
  });
}

function wakeUpsOf(pid: number): number {
  return sumOf([`/proc/${String(pid)}/task`], (tasks) =>
    sumOf(readdirSync(tasks), (task) => {
      const status = readFileSync(`${tasks}/${task}/status`, 'utf8');
      return Number(/^voluntary_ctxt_switches:\s+(\d+)/m.exec(status)?.[1]);
    }),
  );
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
