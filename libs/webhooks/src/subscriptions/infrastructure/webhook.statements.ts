import type { Sealed } from '#libs/kernel';
import { statement } from '#libs/runtime';
import type { SealedKey, Webhook } from '../domain/webhook.js';

/** Each adds a signature to a header of every notification. */
const MAX_RETIRED_SECRETS = 10;
/** How many subscriptions re-encryption locks at once, for a few milliseconds. */
const BATCH = 100;

interface NewKey extends SealedKey {
  id: string;
  overlapHours: number;
  /** Secrets that stop signing at once. */
  except: readonly Sealed[];
}

/** Puts the present secret in front of the retired ones that still sign. */
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

/** The secrets of a subscription as they are stored. */
export type SecretsRow = Pick<
  Webhook,
  'id' | 'accountId' | 'targetUrl' | 'userinfo' | 'headers' | 'secret' | 'retiredSecrets'
>;

/**
 * Subscriptions with a secret that does not start with the present key's prefix, or with unsealed user
 * information.
 */
export const FIND_SECRETS = statement<{ after: string; prefix: string }, SecretsRow>(`
SELECT id, account_id AS "accountId", target_url AS "targetUrl", userinfo, headers, secret,
  retired_secrets AS "retiredSecrets"
FROM webhooks
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

/** Does not raise `version` or `target_version`: nothing changes for clients. */
export const WRITE_SECRETS = statement<NewSecrets>(`
UPDATE webhooks w
SET target_url = n.target_url, userinfo = n.userinfo, headers = n.headers::json,
  secret = n.secret, retired_secrets = n.retired_secrets::jsonb
FROM unnest(@ids::bigint[], @targetUrls::text[], @userinfo::text[], @headers::text[],
    @secrets::text[], @retiredSecrets::text[])
  AS n(id, target_url, userinfo, headers, secret, retired_secrets)
WHERE w.id = n.id`);
