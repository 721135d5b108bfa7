import type { LookupAddress } from 'node:dns';
import { getServers, Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';

/** c-ares doubles the time-out, in ms, with each try: silent servers are given up after 6 s. */
const PATIENCE = { timeout: 2_000, tries: 2 };
/** As many servers, each asked once, are as good as so many tries. */
const IMPATIENCE = { timeout: 2_000, tries: 1 };
/** How much later, in ms, than those of IPv4 addresses of IPv6 may come (RFC 8305, section 3). */
const RESOLUTION_DELAY_MS = 50;
/** Addresses of each family that count: a name may have thousands, and each has to be judged. */
const MAX_ADDRESSES = 16;
const HOSTS_FILE = '/etc/hosts';
const HOSTS_AGE_MS = 5_000;

type Hosts = ReadonlyMap<string, readonly LookupAddress[]>;

/** A name has no address, or none of its servers answers. */
export class UnresolvedNameError extends Error {
  readonly code = 'EUNRESOLVED';

  constructor(cause: unknown) {
    super('the name has no address', { cause });
  }
}

/**
 * Resolves the names of targets by queries of its own. Not by `dns.lookup`: of its four threads,
 * names may use two, so a few whose servers are silent would hold up every other target. What the
 * hosts file says comes first, as there; search domains do not apply.
 */
@Injectable()
export class NameResolver implements OnApplicationShutdown {
  dns = new Resolver(getServers().length > 1 ? IMPATIENCE : PATIENCE);
  private readonly underWay = new Map<string, Promise<readonly LookupAddress[]>>();
  private hosts: Promise<Hosts> | undefined;
  private hostsReadAt = 0;

  /**
   * One address at least, IPv4 first. Concurrent calls for one name share its queries.
   * @throws UnresolvedNameError
   */
  resolve(hostname: string): Promise<readonly LookupAddress[]> {
    const name = hostname.toLowerCase().replace(/\.$/, '');
    let resolving = this.underWay.get(name);
    if (!resolving) {
      resolving = this.ask(name).finally(() => this.underWay.delete(name));
      this.underWay.set(name, resolving);
    }
    return resolving;
  }

  onApplicationShutdown(): void {
    this.dns.cancel();
  }

  private async ask(name: string): Promise<readonly LookupAddress[]> {
    const inHostsFile = (await this.readHosts()).get(name);
    if (inHostsFile) return inHostsFile;
    const found: LookupAddress[] = [];
    const gather = async (family: number, query: Promise<string[]>): Promise<void> => {
      const addresses = (await query).slice(0, MAX_ADDRESSES);
      found.push(...addresses.map((address) => ({ address, family })));
    };
    // Both are looked after at once: a rejection that nobody awaits ends the process.
    const ipv4 = Promise.allSettled([gather(4, this.dns.resolve4(name))]);
    const ipv6 = Promise.allSettled([gather(6, this.dns.resolve6(name))]);
    const [settled] = await ipv4;
    // Many hosts have no IPv6, so what has an IPv4 address hardly waits for another.
    const enough = found.length > 0 ? sleep(RESOLUTION_DELAY_MS) : new Promise(() => undefined);
    await Promise.race([ipv6, enough]);
    if (found.length === 0) {
      throw new UnresolvedNameError(settled.status === 'rejected' ? settled.reason : undefined);
    }
    return found.toSorted((one, other) => one.family - other.family);
  }

  private readHosts(): Promise<Hosts> {
    if (!this.hosts || performance.now() - this.hostsReadAt > HOSTS_AGE_MS) {
      this.hosts = readFile(HOSTS_FILE, 'utf8').then(parseHosts, () => new Map());
      this.hostsReadAt = performance.now();
    }
    return this.hosts;
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
