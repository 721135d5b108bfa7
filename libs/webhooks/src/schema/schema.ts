import type { DatabaseSchema } from '#libs/runtime';
import { migrations } from './migrations.js';
import { functions } from './functions.js';

export const webhooksSchema: DatabaseSchema = {
  migrations,
  tables: {
    // The worker must not change what a customer decides: target, secret, owner.
    webhooks: {
      api: 'SELECT, INSERT, UPDATE',
      worker: `SELECT, UPDATE (enabled, disabled_reason, disabled_at, hold_until, failures,
        failing_since, opened_at, open_until, openings, backlog, generation, cancelling, version, updated_at, paced_until,
        in_flight, pace_waits)`,
    },
    event_keys: { api: 'SELECT, INSERT', worker: 'SELECT, DELETE' },
    // Reported events are never changed, only the subscriptions that they are sent to.
    events: { api: 'SELECT, INSERT, UPDATE (unmatched, added)', worker: 'SELECT' },
    // A worker needs no right: a function of the owner stores its notices.
    feed_clock: { api: 'SELECT' },
    deliveries: {
      api: `SELECT, INSERT, UPDATE (state, reason, generation, schedule_base, immediate, replayed,
        next_attempt_at, not_before, claimed_until, takes, completed_at, resumes_at, extra_attempts)`,
      worker: `SELECT, UPDATE (state, reason, generation, schedule_base, immediate, replayed,
        next_attempt_at, not_before, claimed_until, completed_at, takes, attempts, resumes_at, extra_attempts)`,
    },
    // The log of attempts: the API cannot write it, and no process can change it. A worker reads results,
    // because a replay can select by them.
    attempts: { api: 'SELECT', worker: 'INSERT, SELECT (delivery_id, take, status, error)' },
    attempt_counts: { api: 'SELECT', worker: 'SELECT, INSERT, DELETE, UPDATE (count)' },
    webhook_losses: { api: 'SELECT', worker: 'SELECT, INSERT, DELETE, UPDATE (count, last_at)' },
    webhook_successes: { api: 'SELECT', worker: 'SELECT, INSERT, UPDATE (at)' },
    account_loads: {
      api: 'SELECT, INSERT, UPDATE (reported, delivered, failed, busy_ms)',
      worker: 'SELECT, INSERT, DELETE, UPDATE (reported, delivered, failed, busy_ms)',
    },
    replays: {
      api: 'SELECT, INSERT, UPDATE (state, completed_at)',
      worker:
        'SELECT, UPDATE (state, completed_at, replayed, parts, left_off, left_deleted), DELETE',
    },
    recoveries: { api: 'SELECT, INSERT', worker: 'SELECT, UPDATE (after, visited_at), DELETE' },
    // Only the functions change what an erasure has done; the worker locks old ones to delete them, which needs UPDATE.
    erasures: { api: 'SELECT, INSERT', worker: 'SELECT, UPDATE (advanced_at), DELETE' },
    closings: { api: 'SELECT, INSERT', worker: 'SELECT' },
    replay_parts: { api: 'SELECT, INSERT', worker: 'SELECT, UPDATE (after, remaining), DELETE' },
  },
  functions: {
    'raise_feed_clock()': { api: 'EXECUTE' },
    'ensure_partitions(integer)': { api: 'EXECUTE', worker: 'EXECUTE' },
    'detach_partition(text)': { worker: 'EXECUTE' },
    'drop_partition(text)': { worker: 'EXECUTE' },
    'forget_webhooks(integer,integer)': { worker: 'EXECUTE' },
    'tell_of_webhook(bigint,text,timestamp with time zone,timestamp with time zone)': {
      worker: 'EXECUTE',
    },
    'deliver_missed(uuid,bigint,uuid[])': { worker: 'EXECUTE' },
    'recover_webhook(uuid,bigint,integer,integer)': { worker: 'EXECUTE' },
    'erase_events(uuid,uuid[],uuid[],uuid)': { worker: 'EXECUTE' },
    'end_erasure(uuid)': { worker: 'EXECUTE' },
    'remove_data_of_account(bigint,text,uuid,uuid,integer)': { worker: 'EXECUTE' },
    'finish_closing(bigint,integer)': { worker: 'EXECUTE' },
  },
  script: functions,
};
