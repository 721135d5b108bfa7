import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { UnavailableError } from '#libs/kernel';
import { BackgroundTasks, type TaskWork } from './background-tasks.js';
import type { Log } from './logging/log.js';
import { Metrics } from './telemetry/metrics.js';

const MINUTE_MS = 60_000;

let lines: [level: string, message: string, fields: object][];
let metrics: Metrics;
let tasks: BackgroundTasks;
let startedAt: number;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance', 'Date'] });
  startedAt = performance.now();
  lines = [];
  const line = (level: string) => (fields: object, message: string) =>
    lines.push([level, message, fields]);
  const log = { info: line('info'), warn: line('warn'), error: line('error') };
  metrics = new Metrics();
  tasks = new BackgroundTasks(log as unknown as Log, metrics);
});
afterEach(async () => {
  await stop();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const lasting = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

/** Stops the tasks like Nest does when the process stops. */
async function stop(): Promise<void> {
  tasks.onModuleDestroy();
  const stopped = tasks.beforeApplicationShutdown();
  await pass(MINUTE_MS);
  await stopped;
}

/** Work that takes `ms`. @returns the start of each run, in ms since the test began */
function recorded(ms: number) {
  const begun: number[] = [];
  const work: TaskWork = async () => {
    begun.push(performance.now() - startedAt);
    await lasting(ms);
  };
  return { begun, work };
}

describe('pace', () => {
  /** @returns when runs that take `ms` begin within a minute */
  async function beginnings(ms: number, everyMs = 500): Promise<number[]> {
    const { begun, work } = recorded(ms);
    tasks.add('task', { everyMs, share: 0.1 }, work);
    await tasks.onApplicationBootstrap();
    await pass(MINUTE_MS);
    return begun;
  }

  it('runs at the start and then at its interval', async () => {
    expect((await beginnings(10)).slice(0, 3)).toEqual([0, 500, 1_000]);
  });

  it('runs at the same moments as other tasks', async () => {
    const works = [recorded(10), recorded(170)];
    works.forEach(({ work }, at) => tasks.add(`task-${at}`, { everyMs: 500 }, work));
    await pass(30);
    await tasks.onApplicationBootstrap();
    await pass(1_500);
    expect(works.map(({ begun }) => begun)).toEqual(Array(2).fill([30, 500, 1_000, 1_500]));
  });

  it('pauses for longer when runs would take more than their share of the time', async () => {
    expect((await beginnings(200)).slice(0, 3)).toEqual([0, 2_000, 4_000]);
  });

  it('pauses for 5 s at most to keep its share', async () => {
    expect(await beginnings(10_000)).toEqual([0, 15_000, 30_000, 45_000, 60_000]);
  });

  it('pauses for as long as the run took unless another share is given', async () => {
    const { begun, work } = recorded(800);
    tasks.add('task', { everyMs: 500 }, work);
    await tasks.onApplicationBootstrap();
    await pass(4_000);
    expect(begun).toEqual([0, 2_000, 4_000]);
  });

  it('keeps the same pace after a failure', async () => {
    const begun: number[] = [];
    tasks.add('task', { everyMs: 500 }, async () => {
      begun.push(performance.now() - startedAt);
      await lasting(10);
      throw new Error('broken');
    });
    await tasks.onApplicationBootstrap();
    await pass(1_100);
    expect(begun).toEqual([0, 500, 1_000]);
  });
});

describe('start and stop', () => {
  it('starts all tasks at once', async () => {
    const works = [recorded(10_000), recorded(10_000)];
    works.forEach(({ work }, at) => tasks.add(`task-${at}`, { everyMs: 500 }, work));
    await tasks.onApplicationBootstrap();
    expect(works.map(({ begun }) => begun)).toEqual([[0], [0]]);
  });

  it('delays serving until the first run has ended only for tasks that ask for it', async () => {
    let serving = 0;
    for (const beforeServing of [false, true]) {
      const each = new BackgroundTasks({} as Log, new Metrics());
      each.add('task', { everyMs: 500, beforeServing }, () => lasting(1_000));
      void each.onApplicationBootstrap().then(() => (serving += 1));
    }
    await pass(999);
    expect(serving).toBe(1);
    await pass(1);
    expect(serving).toBe(2);
  });

  it('waits for the current run, and begins no other', async () => {
    const { begun, work } = recorded(1_000);
    tasks.add('task', { everyMs: 500 }, work);
    await tasks.onApplicationBootstrap();
    await pass(100);
    tasks.onModuleDestroy();
    await pass(400);
    let stopped = false;
    void tasks.beforeApplicationShutdown().then(() => (stopped = true));
    await pass(499);
    expect(stopped).toBe(false);
    await pass(1);
    expect(stopped).toBe(true);
    await pass(MINUTE_MS);
    expect(begun).toEqual([0]);
  });

  it('begins no run once the process is stopping, even before other tasks have stopped', async () => {
    const { begun, work } = recorded(10);
    tasks.add('task', { everyMs: 500 }, work);
    await tasks.onApplicationBootstrap();
    tasks.onModuleDestroy();
    await pass(MINUTE_MS);
    expect(begun).toEqual([0]);
  });

  it('stops at once during a pause', async () => {
    tasks.add('task', { everyMs: MINUTE_MS }, () => lasting(10));
    await tasks.onApplicationBootstrap();
    await pass(100);
    tasks.onModuleDestroy();
    await tasks.beforeApplicationShutdown();
  });

  it('aborts a long run between its steps without reporting a failure', async () => {
    let steps = 0;
    tasks.add('task', { everyMs: 500 }, async (signal) => {
      for (; steps < 100; steps += 1) {
        signal.throwIfAborted();
        await lasting(100);
      }
    });
    await tasks.onApplicationBootstrap();
    await pass(250);
    tasks.onModuleDestroy();
    await stop();
    expect(steps).toBe(3);
    expect(lines).toEqual([]);
  });
});

describe('failures', () => {
  let fault: Error | undefined;

  /** Starts a task that runs once a second and fails while `fault` is set. */
  async function started(): Promise<void> {
    fault = undefined;
    tasks.add('cleaning', { everyMs: 1_000 }, () =>
      fault ? Promise.reject(fault) : Promise.resolve(),
    );
    await tasks.onApplicationBootstrap();
  }

  async function failing(error: Error | undefined, ms: number): Promise<void> {
    fault = error;
    await pass(ms);
  }

  /** The lines since the last call, by level and message. */
  const logged = () => lines.splice(0).map(([level, message]) => `${level} ${message}`);

  const broken = new Error('broken');

  it('are logged with their error when a task begins to fail', async () => {
    await started();
    await failing(broken, 30_000);
    const fields = { err: broken, task: 'cleaning', failures: 1 };
    expect(lines).toEqual([['error', 'background task failed', fields]]);
  });

  it('are logged once a minute while a task keeps failing', async () => {
    await started();
    await failing(broken, 3 * MINUTE_MS);
    expect(lines.map(([, , fields]) => fields)).toEqual(
      [1, 61, 121].map((failures) => ({ err: broken, task: 'cleaning', failures })),
    );
  });

  it('are followed by one line when the task succeeds again', async () => {
    await started();
    await failing(broken, 10_000);
    await failing(undefined, 10_000);
    expect(logged()).toEqual(['error background task failed', 'info background task works again']);
    await failing(undefined, MINUTE_MS);
    expect(logged()).toEqual([]);
    await failing(broken, 10_000);
    expect(lines.map(([, , fields]) => fields)).toMatchObject([{ failures: 1 }]);
  });

  it('are logged at most twice a minute when they alternate with successes', async () => {
    await started();
    for (let second = 0; second < 60; second += 2) {
      await failing(broken, 1_000);
      await failing(undefined, 1_000);
    }
    expect(logged()).toHaveLength(2);
  });

  it.each([
    new UnavailableError(),
    Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('canceling statement due to lock timeout'), { code: '55P03' }),
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    new Error('LOADING Redis is loading the dataset in memory'),
  ])('are warnings if a store is unavailable: $message', async (unavailable) => {
    await started();
    await failing(unavailable, 30_000);
    expect(logged()).toEqual(['warn background task failed']);
  });

  it('are logged as errors right after warnings about a store', async () => {
    await started();
    await failing(new UnavailableError(), 5_000);
    await failing(broken, 5_000);
    expect(logged()).toEqual(['warn background task failed', 'error background task failed']);
  });

  /** The age of the last success in seconds, from the metric. */
  async function secondsAgo(): Promise<number> {
    const sample = 'switchhook_task_last_success_timestamp_seconds{task="cleaning"} ';
    const [, value] = (await metrics.text()).split(sample);
    return Date.now() / 1_000 - Number.parseFloat(value ?? '');
  }

  it('leave the metric at the start time until there is a success', async () => {
    tasks.add('cleaning', { everyMs: 1_000 }, () => Promise.reject(broken));
    await tasks.onApplicationBootstrap();
    await pass(5_000);
    expect(await secondsAgo()).toBeCloseTo(5);
  });

  it('do not change the time of the last success', async () => {
    await started();
    await failing(broken, 9_000);
    expect(await secondsAgo()).toBeCloseTo(9);
    await failing(undefined, 9_000);
    expect(await secondsAgo()).toBeLessThan(1.1);
  });
});
