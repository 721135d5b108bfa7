/** A setting of PostgreSQL that the processes need to work correctly. */
interface Needed {
  value: string;
  /** Values that a process refuses, as PostgreSQL shows them or as an administrator writes them. */
  unfit: RegExp;
  /** Whether only a superuser may set it, so that `migrate` does not. */
  isSuperusers?: true;
}

/** PostgreSQL also accepts `of`, `f` and `n`. */
const OFF = /^(?:of|f|n|0)/i;

/**
 * These change what the driver reads or what any statement does. docs/operating/stores.md lists them and the
 * harmless ones.
 */
const NEEDED: Readonly<Record<string, Needed>> = {
  // The driver parses no other style, so all times would be missing.
  DateStyle: { value: 'ISO, MDY', unfit: /sql|postgres|german/i },
  // Otherwise NULL in an array becomes the text 'NULL', and all events without an id become duplicates.
  array_nulls: { value: 'on', unfit: OFF },
  // Fewer digits round times and leases to minutes or days.
  extra_float_digits: { value: '1', unfit: /^'?-/ },
  // Limits are counted under a lock, and must see what was committed while they waited for it.
  default_transaction_isolation: { value: 'read committed', unfit: /repeatable|serializable/i },
  // Otherwise a crash of PostgreSQL loses events that were answered with 202.
  synchronous_commit: { value: 'on', unfit: OFF },
  // Otherwise triggers do not run, and the audit can be forged.
  session_replication_role: { value: 'origin', unfit: /replica/i, isSuperusers: true },
};

/** What `migrate` sets for the roles of the processes. */
export const PINNED: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(NEEDED).flatMap(([name, { value, isSuperusers }]) =>
    isSuperusers ? [] : [[name, value] as const],
  ),
);

const ENCODING = 'UTF8';
/** The oldest supported version, as PostgreSQL numbers it. */
const OLDEST = 150_000;

const READ_ONLY = 'default_transaction_read_only';
const SEARCH_PATH = 'search_path';
/** PostgreSQL shows them as settings, but nothing can change them. */
const PROPERTIES = ['server_encoding', 'server_version', 'server_version_num'];

/** The values of this session and of later ones, because a pool, ours or PgBouncer's, opens new ones at any time. */
export interface CurrentSettings {
  isStandby: boolean;
  now: Readonly<Record<string, string>>;
  /** An administrator's values for new sessions; null if there are none. */
  next: Readonly<Record<string, string>> | null;
  role: string;
  /** Whether the database has the language of our functions. */
  hasLanguage: boolean;
  /** The schema of our tables; null if they are missing. */
  schema: string | null;
  isOnPath: boolean;
}

const HAS_LANGUAGE = `EXISTS (SELECT FROM pg_language WHERE lanname = 'plpgsql')`;

/** What `migrate` needs of an empty database: the properties, and the language of the functions that it creates. */
export const PROPERTIES_OF_DATABASE = `
SELECT json_object_agg(name, current_setting(name)) AS properties,
  ${HAS_LANGUAGE} AS "hasLanguage"
FROM unnest('{${PROPERTIES.join()}}'::text[]) AS name`;

const STANDBY_NAMES = 'synchronous_standby_names';
const COMMIT = 'synchronous_commit';

/** Whether a commit returns only when a standby has it, as SQL. */
export const WAITS_FOR_STANDBY =
  `current_setting('${STANDBY_NAMES}') <> '' AND ` +
  `current_setting('${COMMIT}') NOT IN ('off', 'local')`;

/** The settings of {@link requireSynchronous}. */
export const COMMIT_SETTINGS = `
SELECT json_build_object('${STANDBY_NAMES}', current_setting('${STANDBY_NAMES}'),
  '${COMMIT}', current_setting('${COMMIT}')) AS now`;

export const CURRENT_SETTINGS = `
SELECT pg_is_in_recovery() AS "isStandby",
  (SELECT json_object_agg(name, current_setting(name)) FROM unnest(
    '{${[...Object.keys(NEEDED), ...PROPERTIES, READ_ONLY, SEARCH_PATH, STANDBY_NAMES].join()}}'::text[]
  ) AS name) AS now,
  (SELECT json_object_agg(name, value) FROM (
    SELECT DISTINCT ON (1) lower(split_part(setting, '=', 1)) AS name,
      substr(setting, strpos(setting, '=') + 1) AS value
    FROM pg_db_role_setting s CROSS JOIN unnest(s.setconfig) AS setting
    WHERE s.setrole IN (0, (SELECT oid FROM pg_roles WHERE rolname = session_user))
      AND s.setdatabase IN (0, (SELECT oid FROM pg_database WHERE datname = current_database()))
    ORDER BY 1, s.setrole <> 0 DESC, s.setdatabase <> 0 DESC
  ) AS of_next) AS next,
  session_user AS role, ${HAS_LANGUAGE} AS "hasLanguage", tables.nspname AS schema, tables.is_on_path IS TRUE AS "isOnPath"
FROM (SELECT) AS one LEFT JOIN LATERAL (
  SELECT nspname, pg_table_is_visible(c.oid) AS is_on_path
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE relname = 'processes' AND relkind = 'r' AND EXISTS (
    SELECT FROM pg_class WHERE relname = 'idempotency_keys' AND relnamespace = c.relnamespace
  )
  ORDER BY pg_table_is_visible(c.oid) DESC LIMIT 1
) AS tables ON true`;

/** PostgreSQL answers, but is unusable. The message tells administrators why. */
export class UnusableDatabaseError extends Error {}

/** PostgreSQL takes no writes, while reads may work. */
export class ReadOnlyDatabaseError extends UnusableDatabaseError {}

/**
 * @param settings the current ones, by name
 * @param hasLanguage whether the database has the language of our functions
 * @throws UnusableDatabaseError if this version works with no such database or server
 */
export function requireSuitable(
  settings: Readonly<Record<string, string>>,
  hasLanguage: boolean,
): void {
  const { server_encoding: encoding = ENCODING, server_version: version = '' } = settings;
  if (encoding !== ENCODING) {
    throw new UnusableDatabaseError(
      `the encoding of the database is ${encoding}, and has to be ${ENCODING}`,
    );
  }
  if (Number(settings.server_version_num ?? OLDEST) < OLDEST) {
    throw new UnusableDatabaseError(
      `PostgreSQL has the version ${version}, and has to have ${OLDEST / 10_000} or a later one`,
    );
  }
  if (!hasLanguage) {
    throw new UnusableDatabaseError(
      'the database lacks the language plpgsql, which CREATE EXTENSION plpgsql adds',
    );
  }
}

/**
 * @param own the configured schema; otherwise the one that has our tables
 * @throws UnusableDatabaseError if a process cannot work with a setting or with the database itself
 */
export function requireFit(settings: CurrentSettings, own?: string): void {
  requireSuitable(settings.now, settings.hasLanguage);
  for (const [name, { value, unfit }] of Object.entries(NEEDED)) {
    const found = [settings.now[name], nextOf(settings, name)].find(
      (each) => each !== undefined && unfit.test(each),
    );
    if (found !== undefined) {
      throw new UnusableDatabaseError(
        `the setting ${name} of PostgreSQL is "${found}", and has to be "${value}"`,
      );
    }
  }
  const needed = own ?? settings.schema;
  if (needed === null || leadsTo(needed, settings)) return;
  const path = nextOf(settings, SEARCH_PATH) ?? settings.now[SEARCH_PATH] ?? '';
  throw new UnusableDatabaseError(
    `the setting search_path of PostgreSQL is "${path}", and has to have the schema "${needed}"`,
  );
}

/** Whether this session and later ones find their tables in a schema, also if they are still missing. */
function leadsTo(needed: string, settings: CurrentSettings): boolean {
  const { schema, isOnPath, role, now } = settings;
  const doesNow = isOnPath
    ? schema === needed
    : schema !== needed && isInPath(needed, now[SEARCH_PATH], role);
  return doesNow && isInPath(needed, nextOf(settings, SEARCH_PATH), role);
}

/** @throws ReadOnlyDatabaseError */
export function requireWritable(settings: CurrentSettings): void {
  if (settings.isStandby) {
    throw new ReadOnlyDatabaseError('PostgreSQL is a standby, which takes no writes');
  }
  const found = [settings.now[READ_ONLY], nextOf(settings, READ_ONLY)];
  if (found.every((value) => value === undefined || OFF.test(value))) return;
  throw new ReadOnlyDatabaseError(
    `PostgreSQL takes no writes, because its setting ${READ_ONLY} is on`,
  );
}

/**
 * For an installation that must lose nothing in a failover.
 * @throws ReadOnlyDatabaseError if commits wait for no standby
 */
export function requireSynchronous({ now }: Pick<CurrentSettings, 'now'>): void {
  const because = 'commits of PostgreSQL wait for no standby, because its setting';
  if (now[STANDBY_NAMES] === '') {
    throw new ReadOnlyDatabaseError(`${because} ${STANDBY_NAMES} is empty`);
  }
  const commit = now[COMMIT] ?? '';
  if (commit === 'off' || commit === 'local') {
    throw new ReadOnlyDatabaseError(`${because} ${COMMIT} is "${commit}"`);
  }
}

function nextOf({ next }: CurrentSettings, name: string): string | undefined {
  return next?.[name.toLowerCase()];
}

/** Whether a search_path, if there is one, has a schema. */
export function isInPath(schema: string, path: string | undefined, role: string): boolean {
  const names = path?.split(',').map((name) => name.trim().replace(/^"(.*)"$/, '$1'));
  return names?.some((name) => (name === '$user' ? role : name) === schema) ?? true;
}
