import type { LookupAddress } from 'node:dns';
import { CONNREFUSED, Resolver, TIMEOUT } from 'node:dns/promises';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { assertDescriptors, isShortage, OwnFaultError } from './outbound-errors.js';

/** c-ares doubles the timeout with each try, so it gives up silent servers after 6 s. */
const ONE_SERVER = { timeout: 2_000, tries: 2 };
/** With several servers, one try for each is enough. */
const SEVERAL_SERVERS = { timeout: 2_000, tries: 1 };
/** Queries to silent servers, of 4 s or more: enough to outlast the timeout of a call. */
const MAX_QUERIES = 5;
/** How long to wait for any answer of a name server before all of them count as silent. */
const PROBE_MS = 2_000;
/** What is known of every name server: the servers of the root. */
const PROBED_NAME = '.';
/** How long to wait for IPv6 addresses after the IPv4 ones have arrived (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 50;
/** Addresses of each family to use: a name may have thousands, and each has to be checked. */
const MAX_ADDRESSES = 16;
const HOSTS_FILE = '/etc/hosts';
const HOSTS_AGE_MS = 5_000;
/** c-ares reads it only when a resolver is created. */
const RESOLVER_FILE = '/etc/resolv.conf';
const RESOLVER_AGE_MS = 5_000;

type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/** A name has no address, or no server answers for it. */
export class UnresolvedNameError extends Error {
  readonly code = 'EUNRESOLVED';

  constructor(cause: unknown) {
    super('the name has no address', { cause });
  }
}

/**
 * Resolves the names of targets with its own queries. `dns.lookup` uses at most two of its four threads for
 * names, so a few names with silent servers would block every other target. As there, the hosts file has
 * precedence; search domains do not apply. A change of either file takes effect within five seconds.
 */
@Injectable()
export class NameResolver implements OnApplicationShutdown {
  dns = newResolver();
  private readonly pending = new Map<string, Promise<readonly LookupAddress[]>>();
  private hosts: Promise<Hosts> | undefined;
  private hostsReadAt = 0;
  private resolverFile = readResolverFile();
  private resolverReadAt = performance.now();
  /** When a name server last answered, whatever it said. */
  private answeredAt = -Infinity;
  private probing: Promise<boolean> | undefined;

  /**
   * @returns at least one address, IPv4 first. Concurrent calls for one name share its queries
   * @throws UnresolvedNameError, and OwnFaultError if no name server answers
   */
  resolve(hostname: string): Promise<readonly LookupAddress[]> {
    const name = nameOf(hostname);
    let resolving = this.pending.get(name);
    if (!resolving) {
      resolving = this.query(name).finally(() => this.pending.delete(name));
      this.pending.set(name, resolving);
    }
    return resolving;
  }

  /**
   * Whether a name is still being resolved because no name server answers: neither for it, nor anything else.
   * @param since when the name was asked for, as `performance.now()`
   */
  async isSilentFor(hostname: string, since: number): Promise<boolean> {
    return this.pending.has(nameOf(hostname)) && !(await this.hasAnswered(since));
  }

  private async hasAnswered(since: number): Promise<boolean> {
    if (this.answeredAt >= since) return true;
    this.probing ??= this.probe().finally(() => {
      this.probing = undefined;
    });
    return this.probing;
  }

  private async probe(): Promise<boolean> {
    const asked = this.dns.resolveNs(PROBED_NAME).then(() => true, isAnswer);
    const hasAnswered = await Promise.race([asked, sleep(PROBE_MS).then(() => false)]);
    if (hasAnswered) this.answeredAt = performance.now();
    return hasAnswered;
  }

  onApplicationShutdown(): void {
    this.dns.cancel();
  }

  private async query(name: string): Promise<readonly LookupAddress[]> {
    const start = performance.now();
    await this.followResolverFile();
    const inHostsFile = (await this.readHosts()).get(name);
    if (inHostsFile) return inHostsFile;
    const found: LookupAddress[] = [];
    const gather = async (family: number, query: () => Promise<string[]>): Promise<void> => {
      for (let asked = 1; ; asked += 1) {
        try {
          const addresses = (await query()).slice(0, MAX_ADDRESSES);
          this.answeredAt = performance.now();
          found.push(...addresses.map((address) => ({ address, family })));
          return;
        } catch (error) {
          if (isAnswer(error)) this.answeredAt = performance.now();
          const isSilent = (error as NodeJS.ErrnoException).code === TIMEOUT;
          if (!isSilent || found.length > 0 || asked === MAX_QUERIES) throw error;
        }
      }
    };
    // Both get a handler immediately, because an unhandled rejection ends the process.
    const ipv4 = Promise.allSettled([gather(4, () => this.dns.resolve4(name))]);
    const ipv6 = Promise.allSettled([gather(6, () => this.dns.resolve6(name))]);
    const [settled] = await ipv4;
    // Many hosts have no IPv6, so with an IPv4 address the wait for others is short.
    const timeout = found.length > 0 ? sleep(RESOLUTION_DELAY_MS) : new Promise(() => undefined);
    await Promise.race([ipv6, timeout]);
    if (found.length === 0) {
      await assertDescriptors();
      const reason: unknown = settled.status === 'rejected' ? settled.reason : undefined;
      const isOurs = !isAnswer(reason) && !(await this.hasAnswered(start));
      throw isOurs ? new OwnFaultError('resolver', reason) : new UnresolvedNameError(reason);
    }
    return found.toSorted((one, other) => one.family - other.family);
  }

  private async followResolverFile(): Promise<void> {
    if (performance.now() - this.resolverReadAt < RESOLVER_AGE_MS) return;
    this.resolverReadAt = performance.now();
    const text = await readFile(RESOLVER_FILE, 'utf8').catch(() => this.resolverFile);
    if (text === this.resolverFile) return;
    this.resolverFile = text;
    // Pending queries end on the previous resolver.
    this.dns = newResolver();
  }

  private readHosts(): Promise<Hosts> {
    if (!this.hosts || performance.now() - this.hostsReadAt > HOSTS_AGE_MS) {
      this.hosts = readFile(HOSTS_FILE, 'utf8').then(parseHosts, (error: unknown) => {
        if (!isShortage(error)) return new Map();
        this.hosts = undefined;
        throw error;
      });
      this.hostsReadAt = performance.now();
    }
    return this.hosts;
  }
}

function nameOf(hostname: string): string {
  return hostname.toLowerCase().replace(/\.$/, '');
}

/** Whether an error of a query is the answer of a name server. */
function isAnswer(error: unknown): boolean {
  const { code } = (error ?? {}) as { code?: unknown };
  return code !== TIMEOUT && code !== CONNREFUSED;
}

function newResolver(): Resolver {
  const servers = new Resolver().getServers();
  return new Resolver(servers.length > 1 ? SEVERAL_SERVERS : ONE_SERVER);
}

function readResolverFile(): string | undefined {
  try {
    return readFileSync(RESOLVER_FILE, 'utf8');
  } catch {
    return undefined;
  }
}

function parseHosts(text: string): Hosts {
  const hosts = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...names] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((one) => one.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}
