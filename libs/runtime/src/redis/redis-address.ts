/** Where Redis is, and how to log in, as `REDIS_URL` says. */
export type RedisAddress =
  | { kind: 'server'; url: string }
  /** Each node has some of the keys, and knows where the others are. */
  | ({ kind: 'cluster' } & SeveralServers)
  /** Sentinels know which server is the primary of that name now. */
  | ({ kind: 'sentinel'; name: string; db: number } & SeveralServers);

interface SeveralServers {
  /** Some of them, at least one that runs: they name the others. */
  nodes: readonly { host: string; port: number }[];
  /** Of the servers that hold the data. */
  login: { username?: string; password?: string };
  tls: boolean;
}

const PORTS = { cluster: 6_379, sentinel: 26_379 } as const;

const SEVERAL =
  /^(rediss?)\+(cluster|sentinel):\/\/(?:([^:@/]*)(?::([^@/]*))?@)?([^@/?#]+)(?:\/([\w.-]+)(?:\/(\d{1,4}))?)?\/?$/;
const NODE = /^(\[[\da-f:.]+\]|[^\s[\]:]+)(?::(\d{1,5}))?$/i;

/**
 * Reads one server (`redis://host`), nodes of a Redis Cluster (`redis+cluster://host,host`), or
 * sentinels and the name of their primary (`redis+sentinel://host,host/name/db`); with `rediss` over
 * TLS, and with `user:password@` of the servers.
 * @returns undefined when the text is none of these
 */
export function redisAddressOf(text: string): RedisAddress | undefined {
  if (/^rediss?:\/\/./.test(text))
    return URL.canParse(text) ? { kind: 'server', url: text } : undefined;
  const [, scheme, kind, username, password, hosts = '', name, db = '0'] = SEVERAL.exec(text) ?? [];
  if (kind !== 'cluster' && kind !== 'sentinel') return undefined;
  const nodes = hosts.split(',').flatMap((node) => nodeOf(node, PORTS[kind]) ?? []);
  const login = loginOf({ username, password });
  if (nodes.length < hosts.split(',').length || !login) return undefined;
  const servers = { nodes, login, tls: scheme === 'rediss' };
  // A cluster has no name, and one database.
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
