/** Redis answers, and refuses what this process needs. The message tells administrators why. */
export class UnusableRedisError extends Error {}

const IS_NODE =
  'Redis is a node of a cluster, so REDIS_URL has to be an address with redis+cluster';
const NO_SLOT = 'no node of the Redis Cluster has the slot of a queue';

/** Why Redis executes no part of a command, by the first word of its error. */
const REASONS: Readonly<Record<string, string>> = {
  OOM: 'Redis is full',
  READONLY: 'Redis is a replica, which takes no writes',
  MISCONF: 'Redis takes no writes, because it cannot save its data',
  NOREPLICAS: 'Redis takes no writes, because it has too few replicas',
  MOVED: IS_NODE,
  ASK: IS_NODE,
  CROSSSLOT: IS_NODE,
  CLUSTERDOWN: NO_SLOT,
};

/** Redis 6 puts the error of a command behind its script's. */
const ERROR = /^(?:ERR Error running script .*: -)?([A-Z]+) /;
/** What the connection to a cluster says after several nodes have answered. */
const NO_NODE = /^Too many Cluster redirections\. Last error: ReplyError/;
/** What ioredis says when it has no connection. */
const UNSENT = /isn't (?:writeable|ready) and enableOfflineQueue/;
const FORBIDDEN = /'([\w|]+)' command|unknown command ['`](\w+)['`]/i;

/** The error with which Redis, or the last node of a cluster, answered a command; undefined if there was no answer. */
function answerIn(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  // A transaction's own error only says that one of its commands was refused; a lost connection is its own cause.
  const [cause = error] = (error as { previousErrors?: Error[] }).previousErrors ?? [];
  return cause.name === 'ReplyError' || NO_NODE.test(cause.message) ? cause : undefined;
}

/**
 * The reason for an administrator, which names no user, key or address; undefined if Redis has not refused anything. Its
 * cause is the answer of Redis.
 */
export function refusalOf(error: unknown): UnusableRedisError | undefined {
  const cause = answerIn(error);
  if (cause === undefined) return undefined;
  const [, forbidden, unknown] = FORBIDDEN.exec(cause.message) ?? [];
  const command = (forbidden ?? unknown)?.toLowerCase();
  const what = command === undefined ? 'what the queue needs' : `the command ${command}`;
  return new UnusableRedisError(reasonOf(cause) ?? `Redis refuses ${what}`, { cause });
}

/** Whether nothing of a command or script was executed. Redis checks rights at each command of a script. */
export function isUndone(error: unknown): boolean {
  const answer = answerIn(error);
  if (answer === undefined) return error instanceof Error && UNSENT.test(error.message);
  return reasonOf(answer) !== undefined || !answer.message.includes('script');
}

function reasonOf({ message }: Error): string | undefined {
  return NO_NODE.test(message) ? NO_SLOT : REASONS[ERROR.exec(message)?.[1] ?? ''];
}
