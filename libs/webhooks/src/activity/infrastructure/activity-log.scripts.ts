import type { Happening } from '../domain/activity.js';
import { isNumericId, isUuid } from '#libs/kernel';

/**
 * An account's activity is a Redis stream that exists only while somebody listens, and five minutes longer.
 * Its ids are `<when it was created>-<number>`, without gaps, so a reader notices what it has missed. One
 * hash tag keeps all keys on one node of a Redis Cluster.
 */
const PREFIX = '{switchhook:activity}';

/** Accounts that have listeners, by the time until which their activity is written. */
export const ACCOUNTS_KEY = `${PREFIX}:accounts`;

export const logKey = (accountId: string): string => `${PREFIX}:log:${accountId}`;

/** The open streams of an account, by the time until which they count. */
export const listenersKey = (accountId: string): string => `${PREFIX}:listeners:${accountId}`;

/** How long the activity of an account is written after its last listener has left. */
export const KEPT_MS = 300_000;
/** How many entries of an account are kept: half a megabyte. */
const MOST_KEPT = 10_000;

const NOW = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)`;

/**
 * Counts a listener, or counts it on, and has the account's activity written.
 * KEYS: accounts, listeners, log. ARGV: account, listener, most listeners, how long this one counts, in ms.
 * @returns the id of the last entry; nil if the account has too many listeners
 */
export const LISTEN = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', now)
if not redis.call('ZSCORE', KEYS[2], ARGV[2]) and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[3]) then
  return nil
end
redis.call('ZADD', KEYS[2], now + ARGV[4], ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
redis.call('ZADD', KEYS[1], now + ${KEPT_MS}, ARGV[1])
if redis.call('EXISTS', KEYS[3]) == 0 then
  redis.call('XADD', KEYS[3], now .. '-1', 'h', 'opened')
end
redis.call('PEXPIRE', KEYS[3], ${KEPT_MS})
return redis.call('XREVRANGE', KEYS[3], '+', '-', 'COUNT', 1)[1][1]`;

/** @returns the accounts whose activity is to be written. KEYS: accounts */
export const ACCOUNTS = `${NOW}
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now)
return redis.call('ZRANGE', KEYS[1], 0, -1)`;

/** Appends entries to a log, if it exists. KEYS: log. ARGV: the entries */
export const WRITE = `
local last = redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1)[1]
if not last then return end
local created, number = string.match(last[1], '(%d+)-(%d+)')
for index, entry in ipairs(ARGV) do
  local id = created .. '-' .. string.format('%.0f', number + index)
  redis.call('XADD', KEYS[1], 'MAXLEN', '~', ${MOST_KEPT}, id, 'h', entry)
end`;

/** An entry that says that others may be missing. */
export const INTERRUPTED = 'interrupted';

export function entryOf(happening: Happening): string {
  const { kind, id } = happening;
  return 'number' in happening ? `${kind} ${id} ${happening.number}` : `${kind} ${id}`;
}

/** @returns undefined for what is no happening: another release or program may have written it */
export function happeningOf(entry: string): Happening | undefined {
  const [kind, id = '', number, ...others] = entry.split(' ');
  if (others.length > 0) return undefined;
  if (kind === 'attempt') {
    const isAttempt = isUuid(id) && /^\d{1,9}$/.test(number ?? '');
    return isAttempt ? { kind, id, number: Number(number) } : undefined;
  }
  if (number !== undefined) return undefined;
  if (kind === 'webhook') return isNumericId(id) ? { kind, id } : undefined;
  return (kind === 'event' || kind === 'delivery') && isUuid(id) ? { kind, id } : undefined;
}
