-- FIND_LINK, prepared as links.find
SELECT l.id AS "linkId", u.id AS "userId", u.username, u.role, l.scope
FROM links l JOIN users u ON u.id = l.user_id
WHERE l.hash = decode($1, 'base64') AND (l.used_at IS NULL AND l.ends_at > now()) AND u.status = 'active';

-- FIND_LOGIN, prepared as logins.find
SELECT u.id AS "userId", u.username, u.role, u.status, u.salt, c.id, c.hash, c.scope
FROM users u LEFT JOIN credentials c
  ON c.user_id = u.id AND (c.expires_at IS NULL OR c.expires_at > now())
WHERE u.username = $1 ORDER BY c.id;

-- FIND_SESSION, prepared as sessions.find
SELECT c.id AS "credentialId", l.id AS "linkId", u.id AS "userId", u.username, u.role,
  coalesce(c.scope, l.scope) AS scope, s.created_at AS "createdAt",
  least(s.created_at + interval '12 hours', s.used_at + interval '30 minutes', l.ends_at) AS "expiresAt"
FROM sessions s
  LEFT JOIN credentials c ON c.id = s.credential_id AND (c.expires_at IS NULL OR c.expires_at > now())
  LEFT JOIN links l ON l.id = s.link_id AND l.ends_at > now()
  JOIN users u ON u.id = coalesce(c.user_id, l.user_id)
WHERE s.hash = decode($1, 'base64') AND u.status = 'active'
  AND s.created_at > now() - interval '12 hours' AND s.used_at > now() - interval '30 minutes';

-- INSERT_LINK, prepared as links.insert
WITH ended AS (
  SELECT id FROM links WHERE ends_at < now()
  ORDER BY ends_at LIMIT 10 FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM links l USING ended WHERE l.id = ended.id
), valid AS (
  SELECT u.id AS user_id, c.id AS credential_id, c.expires_at
  FROM users u CROSS JOIN credentials c JOIN users maker ON maker.id = c.user_id
  WHERE u.id = $1 AND u.status = 'active'
    AND c.id = $2 AND maker.status = 'active'
    AND (c.expires_at IS NULL OR c.expires_at > now())
  FOR SHARE OF u, maker FOR KEY SHARE OF c
)
INSERT INTO links (hash, user_id, credential_id, scope, ends_at)
SELECT decode($3, 'base64'), user_id, credential_id, $4,
  least(now() + $5::integer * interval '1 second', expires_at)
FROM valid
RETURNING id, ends_at AS "endsAt";

-- INSERT_SESSION, prepared as sessions.insert
WITH valid AS (
  SELECT c.id FROM credentials c JOIN users u ON u.id = c.user_id
  WHERE c.id = $1 AND u.status = 'active'
    AND (c.expires_at IS NULL OR c.expires_at > now())
  FOR SHARE OF u FOR KEY SHARE OF c
), old AS (
  SELECT hash FROM sessions WHERE credential_id = $1
  ORDER BY created_at DESC OFFSET 19 FOR UPDATE SKIP LOCKED
), removed AS (
  DELETE FROM sessions s USING old WHERE s.hash = old.hash
)
INSERT INTO sessions (hash, credential_id) SELECT decode($2, 'base64'), id FROM valid
RETURNING 1;

-- INSERT_SESSION_WITH_LINK, prepared as sessions.insert-with-link
WITH used AS (
  UPDATE links l SET used_at = now() FROM users u
  WHERE l.id = $1 AND (l.used_at IS NULL AND l.ends_at > now()) AND u.id = l.user_id AND u.status = 'active'
  RETURNING l.id
)
INSERT INTO sessions (hash, link_id) SELECT decode($2, 'base64'), id FROM used
RETURNING 1;

-- LIST_AUDIT
SELECT * FROM (
  SELECT id, created_at AS "createdAt", account_id AS "accountId", request_id AS "requestId", action,
    -- A customer is not told who the operators of the service are, nor where they sit.
    CASE WHEN $1::bigint IS NULL OR user_id = $1 THEN user_id END AS "userId",
    CASE WHEN $1::bigint IS NULL OR user_id = $1 OR user_id IS NULL THEN actor
      ELSE 'platform' END AS actor,
    CASE WHEN $1::bigint IS NULL OR user_id = $1 THEN address END AS address,
    split_part(action, '.', 1) AS resource, resource_id AS "resourceId", fields,
    row_number() OVER (ORDER BY id DESC) = 10000 AS "isLast",
    ($2::text IS NULL OR action = $2)
      AND ($3::text IS NULL OR split_part(action, '.', 1) = $3) AS matches
  FROM audit
  WHERE ($1::bigint IS NULL OR account_id = $1)
    AND ($4::uuid IS NULL OR id < $4)
    AND ($5::bigint IS NULL OR account_id = $5)
    AND ($6::text IS NULL OR resource_id = $6)
    AND ($7::timestamptz IS NULL OR (created_at >= $7 AND id >= least_uuid($7)))
    AND ($8::timestamptz IS NULL
      OR (created_at < $8 AND id < least_uuid($8 + interval '1 ms')))
  ORDER BY id DESC LIMIT 10000
) AS scanned
WHERE matches OR "isLast"
ORDER BY id DESC LIMIT $9;

-- LOCK_USER
SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE;

-- OLDEST_OF, prepared as audit.oldest-of
SELECT (extract(epoch FROM clock_timestamp() - created_at) * 1000)::float8 AS "agoMs"
FROM audit
WHERE resource_id = $1 AND action = $2
  AND ($3::bigint IS NULL OR user_id = $3 AND address IS NOT DISTINCT FROM $4::text)
  AND id >= least_uuid(clock_timestamp() - make_interval(secs => $5::float8 / 1000))
ORDER BY id DESC OFFSET $6::integer - 1 LIMIT 1;

-- PRINCIPAL_OF, prepared as logins.principal-of
SELECT u.id AS "userId", u.username, u.role, c.scope
FROM credentials c JOIN users u ON u.id = c.user_id
WHERE c.id = $1 AND u.status = 'active'
  AND (c.expires_at IS NULL OR c.expires_at > now());

-- RAISE_USER_IDS
SELECT raise_user_ids();

-- RECORD, prepared as audit.record
INSERT INTO audit (account_id, user_id, actor, address, request_id, action, resource_id, fields)
SELECT (entry ->> 'accountId')::bigint, $1, $2, $3, $4, entry ->> 'action',
  entry ->> 'resourceId', ARRAY(SELECT jsonb_array_elements_text(entry -> 'fields'))
FROM jsonb_array_elements($5::jsonb) AS entry;

-- REMOVE_SESSION, prepared as sessions.remove
DELETE FROM sessions WHERE hash = decode($1, 'base64') RETURNING 1;

-- REMOVE_SESSIONS_OF_USER, prepared as sessions.remove-of-user
WITH removed AS (
  -- With their sessions.
  DELETE FROM links WHERE user_id = $1
    OR credential_id = ANY (ARRAY(SELECT id FROM credentials WHERE user_id = $1))
)
DELETE FROM sessions s USING credentials c WHERE c.id = s.credential_id AND c.user_id = $1;

-- USE_SESSION, prepared as sessions.use
UPDATE sessions SET used_at = now()
WHERE hash = decode($1, 'base64') AND used_at > now() - interval '30 minutes';

-- WRITE_USES, prepared as credentials.used
WITH used AS (
  SELECT id FROM credentials
  WHERE id = ANY ($1::bigint[])
    AND (last_used_at IS NULL OR last_used_at < date_trunc('hour', now(), 'UTC'))
  ORDER BY id FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE credentials c SET last_used_at = date_trunc('hour', now(), 'UTC') FROM used WHERE c.id = used.id;
