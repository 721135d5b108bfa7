import { readdirSync, readFileSync } from 'node:fs';
import type { Deployment } from './deployment.js';
import type { Site } from './site.js';

/** Of the kernel's clock for process times. */
const MICROSECONDS_A_TICK = 10_000;
/** Positions in /proc/<pid>/stat, after the name: user and system time, of the process and of its ended children. */
const TIMES = [11, 12, 13, 14];

/** The processes of a benchmark; the first four are the product. */
export const PARTS = ['API', 'worker', 'PostgreSQL', 'Redis', 'receiver', 'load'] as const;
export const PARTS_OF_PRODUCT = 4;

/** The cost of an event in each of the {@link PARTS}. */
export interface Cost {
  /** CPU time in µs. */
  cpu: number[];
  /** How often its threads went to sleep and were woken. */
  wakeUps: number[];
}

/** The total cost of each process so far. */
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

/** The cost of an event, by part. Wake-ups of processes that ended in between are unknown. */
export function costOfEvent(before: Used, after: Used, events: number): Cost {
  return {
    cpu: after.cpu.map((total, part) => (total - before.cpu[part]!) / events),
    wakeUps: after.wakeUps.map(
      (all, part) =>
        sumOf([...all], ([pid, total]) => total - (before.wakeUps[part]!.get(pid) ?? 0)) / events,
    ),
  };
}

/** What the processes of the product cost together. */
export function ofProduct(parts: readonly number[]): number {
  return sumOf(parts.slice(0, PARTS_OF_PRODUCT), (part) => part);
}

/** CPU time of processes so far, in µs; 0 for a process that is gone. */
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

/** A process that is gone counts 0. */
function sumOf<Of>(all: readonly Of[], one: (of: Of) => number): number {
  return all.reduce((sum, of) => {
    try {
      return sum + one(of);
    } catch {
      return sum;
    }
  }, 0);
}
