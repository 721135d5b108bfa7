-- KNOWN_ACCOUNTS
SELECT id FROM users WHERE id = ANY ($1::bigint[]) AND status IN ('active', 'locked');

-- LOCK_APPLICATIONS
LOCK TABLE applications IN SHARE ROW EXCLUSIVE MODE;

-- RAISE_IDS
SELECT raise_application_ids();

-- TAKEN_IDS
SELECT id FROM applications WHERE id = ANY ($1::bigint[]);
