import type { Sealed } from '#libs/kernel';
import { statement } from '#libs/runtime';
import type { RetiredSecret, SealedKey } from '../domain/webhook.js';

/** Each is a signature more in the header of every notification. */
const MAX_RETIRED_SECRETS = 10;
/** How many subscriptions are locked at once to encrypt their secrets anew, for some milliseconds. */
const BATCH = 100;

/** Whoever counts at account level waits here; foreign keys may go on referring to the row. */
export const HOLD_ACCOUNT = statement<{ accountId: string }>(
  'SELECT FROM users WHERE id = @accountId FOR NO KEY UPDATE',
);

interface NewKey extends SealedKey {
  id: string;
  overlapHours: number;
  /** Secrets that sign no more. */
  except: readonly Sealed[];
}

/** The present secret goes to the head of those that were retired before and still sign. */
export const REPLACE_KEY = statement<NewKey>(`
UPDATE webhooks SET secret = @secret, public_key = @publicKey, retired_secrets = coalesce((
  SELECT jsonb_agg(retired ORDER BY place)
  FROM jsonb_array_elements(
    jsonb_build_array(jsonb_build_object(
      'secret', secret, 'until', now() + make_interval(hours => @overlapHours)
    )) || retired_secrets
  ) WITH ORDINALITY AS r(retired, place)
  WHERE (retired ->> 'until')::timestamptz > now() AND place <= ${MAX_RETIRED_SECRETS}
    AND retired ->> 'secret' <> ALL (@except::text[])
), '[]')
WHERE id = @id`);

/** What is secret of a subscription, as it is stored. */
export interface SecretsRow {
  id: string;
  account_id: string;
  target_url: string;
  userinfo: Sealed | null;
  headers: Record<string, Sealed> | null;
  secret: Sealed;
  retired_secrets: RetiredSecret[];
}

/**
 * Subscriptions that may hold something that is not sealed with the present key, whose seals begin with
 * a prefix, or user information that is not sealed at all.
 */
export const FIND_SECRETS = statement<{ after: string; prefix: string }, SecretsRow>(`
SELECT id, account_id, target_url, userinfo, headers, secret, retired_secrets FROM webhooks
WHERE id > @after AND (
  NOT starts_with(secret, @prefix) OR NOT starts_with(userinfo, @prefix)
  OR EXISTS (SELECT FROM json_each_text(headers) WHERE NOT starts_with(value, @prefix))
  OR EXISTS (
    SELECT FROM jsonb_array_elements(retired_secrets) r
    WHERE NOT starts_with(r ->> 'secret', @prefix)
  )
  OR target_url LIKE '%@%' AND (userinfo IS NULL OR target_url NOT LIKE '%://***@%')
)
ORDER BY id LIMIT ${BATCH} FOR NO KEY UPDATE`);

/** The columns as arrays; `headers` and `retiredSecrets` in JSON. */
interface NewSecrets {
  ids: string[];
  targetUrls: string[];
  userinfo: (Sealed | null)[];
  headers: (string | null)[];
  secrets: Sealed[];
  retiredSecrets: string[];
}

/** It is the same target, and nothing that a client sees has changed. */
export const WRITE_SECRETS = statement<NewSecrets>(`
UPDATE webhooks w
SET target_url = n.target_url, userinfo = n.userinfo, headers = n.headers::json,
  secret = n.secret, retired_secrets = n.retired_secrets::jsonb
FROM unnest(@ids::bigint[], @targetUrls::text[], @userinfo::text[], @headers::text[],
    @secrets::text[], @retiredSecrets::text[])
  AS n(id, target_url, userinfo, headers, secret, retired_secrets)
WHERE w.id = n.id`);
