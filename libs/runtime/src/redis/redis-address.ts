import { hasRawLogin } from '#libs/kernel';

/** The address and login of Redis, from `REDIS_URL`. */
type RedisAddress =
  | { kind: 'server'; url: string }
  /** Each node holds some of the keys and knows the other nodes. */
  | ({ kind: 'cluster' } & SeveralServers)
  /** Sentinels know which server is the current primary of that name. */
  | ({ kind: 'sentinel'; name: string; db: number } & SeveralServers);

interface SeveralServers {
  /** Some of the nodes; one that is running names the others. */
  nodes: readonly { host: string; port: number }[];
  /** For the servers that hold the data. */
  login: { username?: string; password?: string };
  tls: boolean;
}

const PORTS = { cluster: 6_379, sentinel: 26_379 } as const;

const SEVERAL =
  /^(rediss?)\+(cluster|sentinel):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?#]+)(?:\/([\w.-]+)(?:\/(\d{1,4}))?)?\/?$/;
const NODE = /^(\[[\da-f:.]+\]|[^\s[\]:]+)(?::(\d{1,5}))?$/i;

/**
 * Parses the address of one server (`redis://host`), of a Redis Cluster (`redis+cluster://host,host`), or of
 * sentinels and their primary (`redis+sentinel://host,host/name/db`). `rediss` means TLS; `user:password@`
 * is the login of the servers.
 * @param password for an address without one; not percent-encoded
 * @returns undefined for any other text
 */
export function redisAddressOf(text: string, password = ''): RedisAddress | undefined {
  const byDefault = encodeURIComponent(password);
  if (/^rediss?:\/\/./.test(text)) {
    if (!URL.canParse(text)) return undefined;
    const url = new URL(text);
    const { username, password: own } = url;
    if (hasRawLogin(text) || !loginOf({ username, own })) return undefined;
    if (url.password !== '' || password === '') return { kind: 'server', url: text };
    url.password = byDefault;
    return { kind: 'server', url: url.href };
  }
  const [, scheme, kind, username, own, hosts = '', name, db = '0'] = SEVERAL.exec(text) ?? [];
  if (kind !== 'cluster' && kind !== 'sentinel') return undefined;
  const nodes = hosts.split(',').flatMap((node) => nodeOf(node, PORTS[kind]) ?? []);
  const login = loginOf({ username, password: own || byDefault });
  if (nodes.length < hosts.split(',').length || !login) return undefined;
  const servers = { nodes, login, tls: scheme === 'rediss' };
  // A cluster has no name and only one database.
  if (kind === 'cluster') return name === undefined ? { kind, ...servers } : undefined;
  return name === undefined ? undefined : { kind, name, db: Number(db), ...servers };
}

function nodeOf(text: string, byDefault: number): { host: string; port: number } | undefined {
  const [, host, given] = NODE.exec(text) ?? [];
  const port = Number(given ?? byDefault);
  return host === undefined || port > 65_535
    ? undefined
    : { host: host.replace(/^\[|\]$/g, ''), port };
}

function loginOf(escaped: Record<string, string | undefined>): SeveralServers['login'] | undefined {
  try {
    const given = Object.entries(escaped).filter(
      ([, value]) => value !== undefined && value !== '',
    );
    return Object.fromEntries(
      given.map(([name, value]) => [name, decodeURIComponent(value ?? '')]),
    );
  } catch {
    return undefined;
  }
}
