/** Errors of ioredis without a connection, and of Redis while it starts or fails over. */
const UNAVAILABLE = [
  'connection is closed',
  "stream isn't writeable",
  'max retries per request',
  'command timed out',
  'socket timeout',
  "cluster isn't ready",
  'none of startup nodes',
  'failed to refresh slots cache',
  '^(?:LOADING|READONLY|CLUSTERDOWN|MASTERDOWN|TRYAGAIN) ',
];
const UNAVAILABLE_TEXT = new RegExp(UNAVAILABLE.join('|'), 'i');

/** Whether Redis could not be reached, or is starting or failing over. */
export function isRedisUnavailable(error: unknown): boolean {
  return error instanceof Error && UNAVAILABLE_TEXT.test(error.message);
}
