import type { LookupAddress } from 'node:dns';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6, type Socket } from 'node:net';
import { buildConnector, Client } from 'undici';
import { type Log, OutageLog } from '#libs/runtime';
import { basicCredentialsOf, OUTBOUND_TLS, serverNameOf } from './target-url.js';
import { openFirst, tcpTo } from './happy-eyeballs.js';
import { assertDescriptors, DeadlineError, isShortage, OwnFaultError } from './outbound-errors.js';

/** The timeout for TLS with the proxy. Callers give up earlier; this one releases the socket. */
const TLS_MS = 30_000;

/** After this long without a failure, the log says that the proxy is back. */
const STEADY_MS = 5_000;

const FORBIDDEN = 403;
const GATEWAY_TIMEOUT = 504;
/** The answers of a proxy that cannot reach the address. */
const NOT_REACHED = [502, 503, GATEWAY_TIMEOUT];

/** The egress proxy does not connect to a target. */
export class EgressProxyError extends Error {
  readonly code: 'EPROXY' | 'EPROXYTIMEOUT';
  /** Whether another address of the target may work. */
  readonly isAboutAddress: boolean;
  /** Its answer, if there was one. */
  readonly status: number | undefined;

  /**
   * @param address the requested address
   * @param status the proxy's answer, if there was one
   */
  constructor(
    readonly address: string,
    { status, cause, late = false }: { status?: number; cause?: unknown; late?: boolean },
  ) {
    super(`the proxy ${status === undefined ? 'does not answer' : `answers ${status}`}`, { cause });
    this.code = late || status === GATEWAY_TIMEOUT ? 'EPROXYTIMEOUT' : 'EPROXY';
    this.status = status;
    this.isAboutAddress = status !== undefined && NOT_REACHED.includes(status);
  }
}

/**
 * A proxy that supports CONNECT (RFC 9110, section 9.3.6). It receives checked addresses, never a name, which
 * it would resolve again.
 */
export class EgressProxy {
  /** When a connection to the proxy was last opened, as `performance.now()`. */
  reachedAt = -Infinity;
  private readonly origin: string;
  private readonly headers: Record<string, string>;
  private readonly outages: OutageLog;
  private readonly secure = buildConnector({ ...OUTBOUND_TLS, timeout: TLS_MS });

  /** @param url `http` or `https`; its user information is the login for the proxy */
  constructor(url: string, log: Log) {
    this.origin = new URL(url).origin;
    const credentials = basicCredentialsOf(new URL(url));
    this.headers = credentials === undefined ? {} : { 'proxy-authorization': credentials };
    this.outages = new OutageLog('the egress proxy', log, STEADY_MS);
  }

  /**
   * Connects to the address through the proxy.
   * @param signal aborts the attempt
   * @throws EgressProxyError, and OwnFaultError if the proxy cannot be reached, or refuses for itself
   */
  async connect(address: string, port: number, signal: AbortSignal): Promise<Socket> {
    const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
    const client = new Client(this.origin, { connect: this.connectorUntil(signal) });
    let reached = false;
    client.once('connect', () => {
      reached = true;
      this.reachedAt = performance.now();
    });
    // undici checks its own `signal` option only after the proxy is connected.
    signal.addEventListener('abort', () => void client.destroy(), { once: true });
    const headers = { ...this.headers, host: authority };
    const answer = await client.connect({ path: authority, headers }).catch((cause: unknown) => {
      const isLate = signal.reason instanceof DeadlineError;
      const error = new EgressProxyError(address, { cause, late: isLate });
      // If the proxy was reached, a timeout may be the target's fault. Other aborts mean that the call is obsolete.
      const isOutage = signal.aborted ? isLate && !reached : !isShortage(error);
      if (isOutage) this.outages.away(error);
      // Once it was reached, the target may be the reason why it does not answer.
      throw isOutage && !reached ? new OwnFaultError('proxy', error) : error;
    });
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) {
      this.outages.back();
      return answer.socket as Socket;
    }
    answer.socket.destroy();
    const error = new EgressProxyError(address, { status });
    if (status === FORBIDDEN || NOT_REACHED.includes(status)) {
      this.outages.back();
      throw error;
    }
    this.outages.away(error);
    throw new OwnFaultError('proxy', error);
  }

  /** Opens undici's connection to the proxy, which may also have several addresses. */
  private connectorUntil(signal: AbortSignal): buildConnector.connector {
    return (options, callback) => {
      const { hostname, protocol } = options;
      const isSecure = protocol === 'https:';
      const race = new AbortController();
      signal.addEventListener('abort', () => race.abort(signal.reason), { once: true });
      const port = Number(options.port || (isSecure ? 443 : 80));
      const opening = addressesOf(hostname).then((found) => openFirst(found, tcpTo(port), race));
      opening.then(
        ({ socket }) => {
          const servername = serverNameOf(hostname);
          if (isSecure) this.secure({ ...options, servername, httpSocket: socket }, callback);
          else callback(null, socket);
        },
        (error: unknown) => callback(error as Error, null),
      );
    };
  }
}

/** Not with the resolver for targets, because the operator's own name may need search domains. */
async function addressesOf(host: string): Promise<LookupAddress[]> {
  const family = isIP(host);
  if (family !== 0) return [{ address: host, family }];
  try {
    return await lookup(host, { all: true });
  } catch (error) {
    await assertDescriptors();
    throw error;
  }
}
