import { readFileSync } from 'node:fs';

/** Of the kernel's clock that processes are charged by. */
const MICROSECONDS_A_TICK = 10_000;
/** In /proc/<pid>/stat, behind the name. */
const [USER_TIME, SYSTEM_TIME] = [11, 12];

/** CPU time that processes have used so far, µs; of one that is gone, none. */
export function cpuOf(pids: readonly number[]): number {
  return pids.reduce((sum, pid) => sum + ticksOf(pid) * MICROSECONDS_A_TICK, 0);
}

function ticksOf(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return Number(fields[USER_TIME]) + Number(fields[SYSTEM_TIME]);
  } catch {
    return 0;
  }
}
