import type { LookupAddress } from 'node:dns';
import { once } from 'node:events';
import { connect, isIP, type Socket } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { CONFIG, type Config, Log } from '#libs/runtime';
import { OutboundPolicy } from './outbound-policy.js';
import { DeadlineError } from './outbound-error.js';
import { EgressProxy, EgressProxyError } from './egress-proxy.js';
import { NameResolver } from './name-resolver.js';

const KEEP_ALIVE_MS = 60_000;

/** The address or port of a target is not allowed. */
export class BlockedAddressError extends Error {
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
export interface Connection {
  socket: Socket;
  address: string;
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

  constructor(
    private readonly resolver: NameResolver,
    private readonly policy: OutboundPolicy,
    log: Log,
    @Inject(CONFIG) config: Config,
  ) {
    const { DELIVERY_PROXY_URL: url } = config;
    this.proxy = url === undefined ? undefined : new EgressProxy(url, log);
  }

  /**
   * @param host a name or a literal address, in brackets or without
   * @param timeoutMs for all steps together
   * @throws BlockedAddressError, UnresolvedNameError, EgressProxyError, DeadlineError, and errors of node:net
   */
  async dial(host: string, port: number, timeoutMs: number): Promise<Connection> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new DeadlineError()), timeoutMs);
    try {
      const name = host.replace(/^\[|\]$/g, '');
      const start = performance.now();
      const addresses = await this.allowedAddresses(name, port);
      deadline.signal.throwIfAborted();
      const resolved = performance.now();
      const opened = this.proxy
        ? await connectThrough(this.proxy, addresses, port, deadline.signal)
        : await connectDirectly(addresses, port, deadline.signal);
      const dns = isIP(name) === 0 ? { dns: resolved - start } : {};
      return { ...opened, times: { ...dns, connect: performance.now() - resolved } };
    } finally {
      clearTimeout(timer);
    }
  }

  /** The addresses of the host, at least one. Every one was checked. */
  private async allowedAddresses(host: string, port: number): Promise<readonly LookupAddress[]> {
    const family = isIP(host);
    if (!this.policy.allowsPort(port)) {
      throw new BlockedAddressError(family === 0 ? undefined : host);
    }
    const addresses =
      family === 0 ? await this.resolver.resolve(host) : [{ address: host, family }];
    // A single forbidden address blocks the name, because it is not there by accident.
    const refused = addresses.find(({ address }) => !this.policy.allowsAddress(address));
    if (refused) throw new BlockedAddressError(refused.address);
    return addresses;
  }
}

/** Node tries the addresses one after another, and starts with the next after a quarter of a second. */
async function connectDirectly(
  addresses: readonly LookupAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Omit<Connection, 'times'>> {
  const socket = connect({
    // Not used: the lookup returns the addresses.
    host: 'target.invalid',
    lookup: (_host, _options, answer) => answer(null, [...addresses]),
    autoSelectFamily: true,
    port,
    noDelay: true,
    keepAlive: true,
    keepAliveInitialDelay: KEEP_ALIVE_MS,
  });
  signal.addEventListener('abort', () => socket.destroy(signal.reason as Error));
  await once(socket, 'connect');
  return { socket, address: socket.remoteAddress ?? addresses[0]!.address };
}

/** Requests one address after another from the proxy until it reaches one. */
async function connectThrough(
  proxy: EgressProxy,
  addresses: readonly LookupAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Omit<Connection, 'times'>> {
  const left = addresses.map(({ address }) => address);
  for (let address = left.shift()!; ; address = left.shift()!) {
    try {
      return { socket: await proxy.connect(address, port, signal), address };
    } catch (error) {
      const isLast = left.length === 0 || signal.aborted;
      if (isLast || !(error instanceof EgressProxyError && error.isAboutAddress)) throw error;
    }
  }
}
