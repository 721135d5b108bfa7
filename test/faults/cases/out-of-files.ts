import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { answersOk } from '#tools/net';
import type { FaultCase } from '../harness/fault-case.js';
import { confirm } from '../harness/receiver.js';
import type { ServiceProcess } from '../../support/service-process.js';

/** Every call needs a new connection for this long: about twenty at once in each worker. */
const CALL_MS = 500;
/** Connections that were kept close meanwhile, so the limit is below what is open. */
const FEWER_FILES = 10;
const ENOUGH_FILES = 1_024;
const SHORT_MS = 12_000;

/** The log reports the end of a shortage after five seconds without one, so it may report a second one. */
const MOST_LINES = 3;
const AWAY = 'the network of this host is away';
const INTERRUPTED = 'attempt was interrupted';

/** Sets how many files a process may have open. Those that are open stay so. */
function allowFiles({ pid }: ServiceProcess, count: number): void {
  execFileSync('prlimit', ['--pid', String(pid), `--nofile=${String(count)}:`]);
}

const openFiles = ({ pid }: ServiceProcess): number =>
  readdirSync(`/proc/${String(pid)}/fd`).length;

async function shortagesOf(metrics: string): Promise<number> {
  const text = await (await fetch(metrics)).text();
  const counts = text.matchAll(/^switchhook_host_shortages_total\{.*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

let shortages: number[];

export const workersOutOfFiles: FaultCase = {
  name: 'workers-out-of-files',
  about:
    'workers need more open files than they may have: calls that cannot be made are no attempts, and come later',
  producersNotice: 'nothing',
  duplicates: 'none',
  harm: async ({ receiver, workers, metrics }) => {
    for (const worker of workers) allowFiles(worker, openFiles(worker) - FEWER_FILES);
    receiver.answering = (arrival, response) => {
      response.setHeader('Connection', 'close');
      setTimeout(() => confirm(arrival, response), CALL_MS);
    };
    await sleep(SHORT_MS);
    receiver.answering = confirm;
    for (const worker of workers) allowFiles(worker, ENOUGH_FILES);
    const urls = workers.map(({ name }) => metrics.get(name) ?? '');
    shortages = await Promise.all(urls.map(shortagesOf));
  },
  check: async ({ postgres, workers }) => {
    const failures = await postgres.query<{ how: string }>(
      `SELECT coalesce(error, status::text) || ' ' || count(*) AS how FROM attempts
       WHERE status IS DISTINCT FROM 200 GROUP BY error, status`,
    );
    const repeated = await postgres.query('SELECT FROM deliveries WHERE attempts <> 1');
    const logged = (what: string) =>
      workers.map((worker) => worker.output().split(what).length - 1);
    const isReady = () => Promise.all(workers.map(({ url }) => answersOk(`${url}/health/ready`)));
    await eventually(isReady, (ready) => ready.every(Boolean), { what: 'all workers are ready' });
    const breaches: [boolean, string][] = [
      [shortages.every((count) => count > 0), 'a worker always had enough files'],
      [
        failures.length === 0,
        `attempts were booked as failures: ${failures.map(({ how }) => how).join(', ')}`,
      ],
      [
        repeated.length === 0,
        `${String(repeated.length)} deliveries did not have exactly one attempt`,
      ],
      [
        logged(AWAY).every((lines) => lines >= 1 && lines <= MOST_LINES),
        `the workers logged the shortage ${logged(AWAY).join(', ')} times`,
      ],
      [
        logged(INTERRUPTED).every((lines) => lines === 0),
        `the workers logged ${logged(INTERRUPTED).join(', ')} interrupted attempts`,
      ],
    ];
    return breaches.filter(([holds]) => !holds).map(([, breach]) => breach);
  },
  notes: () => [`calls that lacked a file, by worker: ${shortages.join(', ')}`],
};
