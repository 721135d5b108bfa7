import { prepared, statement } from '../database/statement.js';

/** How long a repeat waits for the first request's transaction, whose process may be slow or frozen. */
const LOCK_TIMEOUT = '2s';
/** How long a process that is frozen or lost can block a key. */
const IDLE_TIMEOUT = '15s';

export const SET_TIMEOUTS = statement(`SELECT set_config('lock_timeout', '${LOCK_TIMEOUT}', true),
  set_config('idle_in_transaction_session_timeout', '${IDLE_TIMEOUT}', true)`);

const EXPIRED = `k.created_at <= now() - interval '24 hours'`;

interface ClaimedKey {
  /** Null if the key is new, or has expired and so counts as new. */
  href: string | null;
  same: boolean;
}

/** Waits for another transaction with the same key. */
export const CLAIM_KEY = statement<
  { accountId: string; key: string; fingerprint: Buffer },
  ClaimedKey
>(`
INSERT INTO idempotency_keys AS k (account_id, key, fingerprint)
VALUES (@accountId, @key, @fingerprint)
ON CONFLICT (account_id, key) DO UPDATE SET
  fingerprint = CASE WHEN ${EXPIRED} THEN excluded.fingerprint ELSE k.fingerprint END,
  href = CASE WHEN ${EXPIRED} THEN NULL ELSE k.href END,
  created_at = CASE WHEN ${EXPIRED} THEN now() ELSE k.created_at END
RETURNING href, fingerprint = @fingerprint AS same`);

export const STORE_HREF = statement<{ accountId: string; key: string; href: string }>(
  'UPDATE idempotency_keys SET href = @href WHERE account_id = @accountId AND key = @key',
);

export const FORGET_KEYS = prepared<{ limit: number }>(
  'idempotency-keys.forget',
  `
DELETE FROM idempotency_keys WHERE (account_id, key) IN (
  SELECT account_id, key FROM idempotency_keys k WHERE ${EXPIRED}
  ORDER BY created_at LIMIT @limit FOR UPDATE SKIP LOCKED
)
RETURNING 1`,
);
