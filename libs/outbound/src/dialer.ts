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

/** A target is not at an address, or not at a port, that may be called. */
export class BlockedAddressError extends Error {
  readonly code = 'EBLOCKED';

  /** @param address the one that is refused, if it was found out */
  constructor(readonly address: string | undefined) {
    super('the target may not be called');
  }
}

/** A connection, and the address that it leads to, which is not that of a proxy in between. */
export interface Connection {
  socket: Socket;
  address: string;
}

/**
 * Opens connections to targets, to addresses alone that may be called. A name is resolved once, and
 * what was judged is what is dialled: there is no second lookup that could answer otherwise. With
 * `DELIVERY_PROXY_URL` the proxy is asked for that very address; nothing goes past it.
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
   * @param timeoutMs for all of it
   * @throws BlockedAddressError, UnresolvedNameError, EgressProxyError, DeadlineError, and what
   * node:net throws
   */
  async dial(host: string, port: number, timeoutMs: number): Promise<Connection> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new DeadlineError()), timeoutMs);
    try {
      const addresses = await this.judged(host.replace(/^\[|\]$/g, ''), port);
      deadline.signal.throwIfAborted();
      return this.proxy
        ? await connectThrough(this.proxy, addresses, port, deadline.signal)
        : await connectDirectly(addresses, port, deadline.signal);
    } finally {
      clearTimeout(timer);
    }
  }

  /** What the host is at: one address at least, and every one judged. */
  private async judged(host: string, port: number): Promise<readonly LookupAddress[]> {
    const family = isIP(host);
    if (!this.policy.allowsPort(port)) {
      throw new BlockedAddressError(family === 0 ? undefined : host);
    }
    const addresses =
      family === 0 ? await this.resolver.resolve(host) : [{ address: host, family }];
    // One address that is not public condemns the name: it is not an accident.
    const refused = addresses.find(({ address }) => !this.policy.allowsAddress(address));
    if (refused) throw new BlockedAddressError(refused.address);
    return addresses;
  }
}

/** Node tries the addresses in turn, each a quarter of a second before it begins with the next. */
async function connectDirectly(
  addresses: readonly LookupAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Connection> {
  const socket = connect({
    // The addresses stand for it.
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

/** The proxy is asked for the addresses in turn, until it reaches one. */
async function connectThrough(
  proxy: EgressProxy,
  addresses: readonly LookupAddress[],
  port: number,
  signal: AbortSignal,
): Promise<Connection> {
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
