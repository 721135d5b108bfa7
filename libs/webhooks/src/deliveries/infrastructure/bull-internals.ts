import type { Queue } from 'bull';
import type { RedisConnection } from '#libs/runtime';

/** What Bull keeps to itself, and its types leave out; touched in this file alone. */
interface QueueInternals {
  /** The blocking connection. */
  bclient: RedisConnection;
  /** While it is set, a job that is completed brings no next one; loops go on when it resolves. */
  paused?: Promise<void>;
  /** Asks for the next job of a loop. */
  getNextJob: () => Promise<unknown>;
  /** Fetches a job that the blocking connection was given, or else the next one that waits. */
  moveToActive: (jobId?: string) => Promise<unknown>;
  /** Makes a job of what Redis has of it. */
  nextJobFromJobData: (data: object | undefined, jobId?: string) => unknown;
  /** What it has subscribed to, by a connection of its own. */
  registeredEvents?: Record<string, Promise<void>>;
  /** Names the blocking connection. */
  setWorkerName: () => Promise<void>;
  closing?: Promise<void>;
}

function internalsOf(queue: Queue): QueueInternals {
  return queue as unknown as QueueInternals;
}

/** To be awaited before a queue is consumed: Bull gives up a consumer that starts while Redis is away. */
export async function prepareToConsume(queue: Queue): Promise<void> {
  await ready(queue.client);
  fetchWhenReady(queue);
  parseJobsCheaply(queue);
  skipPreparations(queue);
}

/**
 * Takes no more jobs, and resolves when each loop has come to ask for the next: what Redis was about to
 * give it is handled by then, not left to the end of its lease. Not by Bull's
 * own pause(): that leaves such jobs, and connects anew, so without Redis it never ends, or ends the
 * process by an error that nobody listens to.
 */
export function stopAsking(queue: Queue, loops: number): Promise<void> {
  const internals = internalsOf(queue);
  let asking = 0;
  const asked = new Promise<void>((resolve) => {
    internals.getNextJob = () => {
      asking += 1;
      if (asking === loops) resolve();
      return new Promise(() => undefined);
    };
  });
  internals.paused = Promise.resolve();
  internals.bclient.disconnect();
  return asked;
}

async function ready(redis: RedisConnection): Promise<void> {
  if (redis.status === 'ready') return;
  await new Promise((resolve) => redis.once('ready', resolve));
}

/**
 * Of the two connections of a queue that is back, the one that waits for jobs may be the first. What it
 * is given then waits for the other one: Bull would fail, and the job lie about until its lease ends.
 */
function fetchWhenReady(queue: Queue): void {
  const internals = internalsOf(queue);
  const moveToActive = internals.moveToActive.bind(queue);
  internals.moveToActive = async (jobId) => {
    await ready(queue.client);
    return moveToActive(jobId);
  };
}

/**
 * Bull reads the stack traces of every job, by a JSON.parse that fails where there are none: ours never
 * have any, and that was 3 % of a worker's time.
 */
function parseJobsCheaply(queue: Queue): void {
  const internals = internalsOf(queue);
  const nextJob = internals.nextJobFromJobData.bind(queue);
  internals.nextJobFromJobData = (data, jobId) =>
    nextJob(data && { ...data, stacktrace: '[]' }, jobId);
}

/**
 * Leaves out two preparations of Bull's that do harm while Redis is away. Bull would subscribe to what
 * is told of delayed jobs, of which there are none, and the connection for that is made anew to a Redis
 * Cluster without a pause. And it would name a connection, by a command whose failure nobody listens
 * to: a worker that stops meanwhile would end with an error.
 */
function skipPreparations(queue: Queue): void {
  const internals = internalsOf(queue);
  internals.registeredEvents = { delayed: Promise.resolve() };
  internals.setWorkerName = () => Promise.resolve();
}

/**
 * Lets go of the connection, and of the queue: Nest closes it next, and without Redis, or while a
 * job will not end, Bull would wait there for ever.
 */
export function letGo(queue: Queue): void {
  queue.client.disconnect();
  internalsOf(queue).closing = Promise.resolve();
}
