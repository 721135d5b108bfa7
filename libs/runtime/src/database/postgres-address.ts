import type { ConnectionOptions } from 'node:tls';
import { hasRawLogin } from '#libs/kernel';
import { readSmallFile } from '../small-file.js';

/** Which hosts may be used: any, one that is not a standby, or one where transactions write by default. */
export type TargetSession = 'any' | 'primary' | 'read-write';

/** Where PostgreSQL is, and how to connect to it. */
export interface PostgresAddress {
  /** A URL for the driver for each host, in the order in which they are tried. */
  urls: readonly string[];
  target: TargetSession;
  /** undefined if the address does not say; then the driver reads PGSSLMODE. */
  ssl: ConnectionOptions | false | undefined;
  /** Hosts and database, without a login. */
  name: string;
}

const PARTS = /^postgres(?:ql)?:\/\/(?:([^/?#]*)@)?([^/?#]*)(\/[^?#]*)?(\?[^#]*)?$/;
const HOST = /^(\[[\da-f:.]+\]|[^\s[\]:]*)(?::(\d{1,5}))?$/i;
const TARGETS: readonly string[] = ['any', 'primary', 'read-write'] satisfies TargetSession[];

/** What the driver understands as libpq does. */
const OF_DRIVER = [
  ...['user', 'password', 'options', 'client_encoding'],
  ...['application_name', 'fallback_application_name'],
];
/** The parameters that name files, and what their content is for TLS. */
const FILES = { sslrootcert: 'ca', sslcert: 'cert', sslkey: 'key' } as const;
const OURS = ['host', 'port', 'target_session_attrs', 'sslmode', ...Object.keys(FILES)];

/**
 * Parses an address of libpq's form: `postgres://user:password@host:port,host:port/database?parameters`. With several
 * hosts, only a primary is used unless the address says otherwise.
 * @throws Error that says what it must be, without repeating any of it
 */
export function postgresAddressOf(text: string): PostgresAddress {
  requireThat(!hasRawLogin(text), 'must percent-encode its login: %40 for @, %2F for /');
  const parts = PARTS.exec(text);
  requireThat(parts !== null, 'must be postgres://host/database or postgres://host,host/database');
  const [, login = '', authority = '', path = '/', query] = parts;
  const parameters = new URLSearchParams(query);
  // The driver would find it only when it connects.
  decoded(login + path);
  requireThat(
    [...parameters.keys()].every((name) => OF_DRIVER.includes(name) || OURS.includes(name)),
    `must have no parameters except ${[...OURS, ...OF_DRIVER].join(', ')}`,
  );
  const hosts = hostsOf(authority, parameters);
  const target = parameters.get('target_session_attrs') ?? (hosts.length > 1 ? 'primary' : 'any');
  requireThat(isTarget(target), `target_session_attrs must be ${TARGETS.join(', ')}`);
  const urls = hosts.map(({ host, port }) => {
    const own = new URLSearchParams([...parameters].filter(([name]) => OF_DRIVER.includes(name)));
    if (host !== '') own.set('host', host.replace(/^\[|\]$/g, ''));
    if (port !== '') own.set('port', port);
    return `postgres://${login}${login && '@'}${path}?${own.toString()}`;
  });
  const names = hosts.map(({ host, port }) => host + (port === '' ? '' : `:${port}`));
  const name = names.join() + path.replace(/^\/$/, '');
  return { urls, target, ssl: sslOf(parameters), name };
}

/** From the parameters if they have any, because libpq lets them override the host and port before the path. */
function hostsOf(authority: string, parameters: URLSearchParams) {
  const written = authority.split(',').map((one) => HOST.exec(one));
  requireThat(!written.includes(null), 'must have hosts such as host:5432,host:5432');
  const hosts =
    parameters.get('host')?.split(',') ?? written.map((found) => decoded(found?.[1] ?? ''));
  const ports = parameters.get('port')?.split(',') ?? written.map((found) => found?.[2] ?? '');
  requireThat(
    ports.length === 1 || ports.length === hosts.length,
    'must have one port, or one for each host',
  );
  requireThat(
    ports.every((port) => /^\d{0,5}$/.test(port) && Number(port) <= 65_535),
    'must have ports from 1 to 65535',
  );
  return hosts.map((host, index) => ({ host, port: ports[index] ?? ports[0] ?? '' }));
}

/**
 * The modes mean what they mean in libpq; the driver itself verifies in all of them. `allow` and `prefer` are refused,
 * because they fall back to plain text.
 */
function sslOf(parameters: URLSearchParams): PostgresAddress['ssl'] {
  const files: { ca?: string; cert?: string; key?: string } = {};
  for (const [name, option] of Object.entries(FILES)) {
    const path = parameters.get(name);
    if (path !== null) files[option] = contentOf(name, path);
  }
  switch (parameters.get('sslmode')) {
    case null:
      requireThat(Object.keys(files).length === 0, 'must have sslmode to use certificates');
      return undefined;
    case 'disable':
      return false;
    case 'require':
      // Like libpq, verifies if it is told the authority.
      return 'ca' in files
        ? { ...files, checkServerIdentity }
        : { ...files, rejectUnauthorized: false };
    case 'verify-ca':
      // Anybody can have a certificate of a public authority.
      requireThat('ca' in files, 'sslmode=verify-ca needs sslrootcert');
      return { ...files, checkServerIdentity };
    case 'verify-full':
      return files;
    default:
      throw new Error('sslmode must be disable, require, verify-ca or verify-full');
  }
}

/** Accepts any name in a certificate. */
const checkServerIdentity = (): undefined => undefined;

function contentOf(name: string, path: string): string {
  try {
    return readSmallFile(path);
  } catch (error) {
    throw new Error(`${name} ${(error as Error).message}`, { cause: error });
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error('must be percent-encoded');
  }
}

function isTarget(text: string): text is TargetSession {
  return TARGETS.includes(text);
}

function requireThat(holds: boolean, otherwise: string): asserts holds {
  if (!holds) throw new Error(otherwise);
}
