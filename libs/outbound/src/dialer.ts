import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { OWN_FAULTS, type OwnFault } from '#libs/kernel';
import { CONFIG, type Config, HostResources, Log, Metrics } from '#libs/runtime';
import { OutboundPolicy } from './outbound-policy.js';
import { DeadlineError, ownFaultOf } from './outbound-errors.js';
import { EgressProxy, EgressProxyError } from './egress-proxy.js';
import { type Opened, openFirst, type Opening, tcpTo } from './happy-eyeballs.js';
import { NameResolver } from './name-resolver.js';

/** The address or port of a target is not allowed. */
class BlockedAddressError extends Error {
  readonly code = 'EBLOCKED';

  /** @param address the refused address, if it is known */
  constructor(readonly address: string | undefined) {
    super('the target may not be called');
  }
}

/** How long the steps of opening a connection took, in ms. */
export interface OpeningTimes {
  /** Absent for a literal address. */
  dns?: number;
  connect: number;
  /** Absent without TLS. */
  tls?: number;
}

/** A connection and the address of the target, not of a proxy in between. */
export interface Connection extends Opened {
  times: OpeningTimes;
}

/**
 * Opens connections to targets, only at allowed addresses. A name is resolved once, and the checked address
 * is dialled, so there is no second lookup with a different result. With `DELIVERY_PROXY_URL`, every
 * connection goes through the proxy to the checked address.
 */
@Injectable()
export class Dialer {
  private readonly proxy: EgressProxy | undefined;
  private readonly ownFaults;

  constructor(
    private readonly resolver: NameResolver,
    private readonly policy: OutboundPolicy,
    private readonly host: HostResources,
    log: Log,
    metrics: Metrics,
    @Inject(CONFIG) config: Config,
  ) {
    this.ownFaults = metrics.counter(
      'switchhook_own_faults_total',
      'Calls to targets that failed because of the service itself. They are no attempts.',
      { fault: OWN_FAULTS },
    );
    const { DELIVERY_PROXY_URL: url } = config;
    this.proxy = url === undefined ? undefined : new EgressProxy(url, log);
  }

  /**
   * @param host a name or a literal address, in brackets or without
   * @param timeoutMs for all steps together
   * @throws BlockedAddressError, UnresolvedNameError, EgressProxyError, DeadlineError, errors of node:net, and
   *   OwnFaultError
   */
  async dial(host: string, port: number, timeoutMs: number): Promise<Connection> {
    const race = new AbortController();
    const timer = setTimeout(() => race.abort(new DeadlineError()), timeoutMs);
    try {
      const connection = await this.open(host.replace(/^\[|\]$/g, ''), port, race);
      this.host.sufficed();
      return connection;
    } catch (error) {
      this.host.failed(error);
      const fault = ownFaultOf(error);
      if (fault !== undefined) this.counted(fault);
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  /** What of our own has answered nothing while a connection was being opened. @param since when that began */
  async stuckOn(host: string, since: number): Promise<OwnFault | undefined> {
    if (await this.resolver.isSilentFor(host, since)) return this.counted('resolver');
    return this.proxy && this.proxy.reachedAt < since ? this.counted('proxy') : undefined;
  }

  private counted(fault: OwnFault): OwnFault {
    this.ownFaults.inc({ fault });
    return fault;
  }

  private async open(name: string, port: number, race: AbortController): Promise<Connection> {
    const start = performance.now();
    const addresses = await this.allowedAddresses(name, port);
    race.signal.throwIfAborted();
    const resolved = performance.now();
    const { proxy } = this;
    const open: Opening = proxy
      ? (address, signal) => proxy.connect(address, port, signal)
      : tcpTo(port);
    const opened = await openFirst(addresses, open, race, isFinal);
    const dns = isIP(name) === 0 ? { dns: resolved - start } : {};
    return { ...opened, times: { ...dns, connect: performance.now() - resolved } };
  }

  /** The addresses of the host, at least one. Every one was checked. */
  private async allowedAddresses(host: string, port: number): Promise<readonly LookupAddress[]> {
    const family = isIP(host);
    if (!this.policy.allowsPort(port)) {
      throw new BlockedAddressError(family === 0 ? undefined : host);
    }
    const addresses =
      family === 0 ? await this.resolver.resolve(host) : [{ address: host, family }];
    // A single forbidden address blocks the name, because it is hardly there by accident.
    const refused = addresses.find(({ address }) => !this.policy.allowsAddress(address));
    if (refused) throw new BlockedAddressError(refused.address);
    return addresses;
  }
}

/** Whether the other addresses of the target will fail, too. */
function isFinal(error: unknown): boolean {
  const fault = ownFaultOf(error);
  if (fault !== undefined) return fault !== 'network';
  return error instanceof EgressProxyError && !error.isAboutAddress;
}
