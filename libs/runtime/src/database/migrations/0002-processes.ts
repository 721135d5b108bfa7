import { migrationOf } from '../database-schema.js';

/** The processes of the installation, by their last sign of life. */
export const processes = migrationOf(
  'Processes1764032400001',
  `
CREATE TABLE processes (
  id text NOT NULL,
  kind text NOT NULL,
  version text NOT NULL,
  in_flight integer NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT processes_pkey PRIMARY KEY (id)
) WITH (fillfactor = 50);
`,
);
