import type { Queue } from 'bull';
import type { RedisConnection } from '#libs/runtime';

/** Private members of Bull that its types omit. Only this file uses them. */
interface QueueInternals {
  /** The blocking connection. */
  bclient: RedisConnection;
  /** While set, a completed job does not fetch the next one. Loops continue when it resolves. */
  paused?: Promise<void>;
  /** Waits for the next job of a loop. */
  getNextJob: () => Promise<unknown>;
  /** Fetches the job that the blocking connection received, or else the next waiting one. */
  moveToActive: (jobId?: string) => Promise<unknown>;
  /** Creates a job object from its data in Redis. */
  nextJobFromJobData: (data: object | undefined, jobId?: string) => unknown;
  /** Its subscriptions, which use a separate connection. */
  registeredEvents?: Record<string, Promise<void>>;
  /** Names the blocking connection. */
  setWorkerName: () => Promise<void>;
  closing?: Promise<void>;
}

function internalsOf(queue: Queue): QueueInternals {
  return queue as unknown as QueueInternals;
}

/** Await this before consuming a queue: Bull gives up a consumer that starts while Redis is down. */
export async function prepareToConsume(queue: Queue): Promise<void> {
  await ready(queue.client);
  fetchWhenReady(queue);
  parseJobsCheaply(queue);
  skipPreparations(queue);
}

/**
 * Stops taking jobs. Resolves when every loop asks for its next job, so that a job which Redis was just
 * handing over is handled instead of waiting for its lease to end. Bull's own pause() abandons such
 * jobs. It also reconnects, so without Redis it hangs or crashes the process with an unhandled error.
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
 * After an outage, a queue's blocking connection may be back before the other one. A job that it receives
 * then waits for the other connection. Bull would fail, and the job would wait until its lease ends.
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
 * Bull parses the stack traces of every job with a JSON.parse that throws if there are none. Our jobs
 * never have any, and this took 3 % of a worker's time.
 */
function parseJobsCheaply(queue: Queue): void {
  const internals = internalsOf(queue);
  const nextJob = internals.nextJobFromJobData.bind(queue);
  internals.nextJobFromJobData = (data, jobId) =>
    nextJob(data && { ...data, stacktrace: '[]' }, jobId);
}

/**
 * Skips two preparations of Bull that do harm while Redis is down. Bull would subscribe to events of
 * delayed jobs, which we do not use, and with a Redis Cluster it reconnects for that without a pause. It
 * would also name its connection with a command whose failure is not handled, so a worker that stops
 * meanwhile would exit with an error.
 */
function skipPreparations(queue: Queue): void {
  const internals = internalsOf(queue);
  internals.registeredEvents = { delayed: Promise.resolve() };
  internals.setWorkerName = () => Promise.resolve();
}

/**
 * Disconnects a queue and marks it as closed. Nest closes queues next, where Bull would wait for ever
 * without Redis or for a job that does not end.
 */
export function letGo(queue: Queue): void {
  queue.client.disconnect();
  internalsOf(queue).closing = Promise.resolve();
}
