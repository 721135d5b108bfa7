import { migrationOf } from '#libs/runtime';

/** hash: SHA-256 of the token in the cookie. used_at: accurate to about a minute. */
export const sessions = migrationOf(
  'Sessions1764032400002',
  `
CREATE TABLE sessions (
  hash bytea NOT NULL,
  credential_id bigint NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  used_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT sessions_pkey PRIMARY KEY (hash),
  CONSTRAINT sessions_credential_fkey FOREIGN KEY (credential_id) REFERENCES credentials (id)
    ON DELETE CASCADE
);
CREATE INDEX sessions_credential_idx ON sessions (credential_id, created_at);
`,
);
