import { isIPv6, type Socket } from 'node:net';
import { Client } from 'undici';
import { type Log, OutageLog } from '#libs/runtime';
import { basicCredentialsOf } from './basic-credentials.js';
import { OUTBOUND_TLS } from './tls.js';

/** When a connection to the proxy itself is given up, in ms, where its caller has not long since. */
const CONNECT_MS = 20_000;

/** How long, in ms, it must have failed nobody before the log says that it is back. */
const STEADY_MS = 5_000;

const PROXY_AUTHENTICATION_REQUIRED = 407;
const GATEWAY_TIMEOUT = 504;
/** What a proxy answers that cannot reach an address. */
const NOT_REACHED = [502, 503, GATEWAY_TIMEOUT];

/** The egress proxy is away, or does not connect to a target. */
export class EgressProxyError extends Error {
  readonly code: 'EPROXY' | 'EPROXYTIMEOUT';
  /** Another address of the target may be reached. */
  readonly isAboutAddress: boolean;

  /**
   * @param address the one that it was asked for
   * @param status what it answered, if it did
   */
  constructor(
    readonly address: string,
    { status, cause, late = false }: { status?: number; cause?: unknown; late?: boolean },
  ) {
    super(`the proxy ${status === undefined ? 'does not answer' : `answers ${status}`}`, { cause });
    this.code = late || status === GATEWAY_TIMEOUT ? 'EPROXYTIMEOUT' : 'EPROXY';
    this.isAboutAddress = status !== undefined && NOT_REACHED.includes(status);
  }
}

/**
 * A proxy that connects by CONNECT (RFC 9110, section 9.3.6). It is told addresses that were
 * judged, never a name, which it would resolve anew.
 */
export class EgressProxy {
  private readonly origin: string;
  private readonly headers: Record<string, string>;
  private readonly outages: OutageLog;

  /** @param url `http` or `https`; its user information is the login at the proxy */
  constructor(url: string, log: Log) {
    this.origin = new URL(url).origin;
    const credentials = basicCredentialsOf(new URL(url));
    this.headers = credentials === undefined ? {} : { 'proxy-authorization': credentials };
    this.outages = new OutageLog('the egress proxy', log, STEADY_MS);
  }

  /**
   * A connection to the address, through the proxy.
   * @param signal gives up
   * @throws EgressProxyError
   */
  async connect(address: string, port: number, signal: AbortSignal): Promise<Socket> {
    const authority = `${isIPv6(address) ? `[${address}]` : address}:${port}`;
    const client = new Client(this.origin, { connect: { ...OUTBOUND_TLS, timeout: CONNECT_MS } });
    let reached = false;
    client.once('connect', () => {
      reached = true;
    });
    // A signal of its own would not be looked at before the proxy is connected.
    signal.addEventListener('abort', () => void client.destroy());
    const headers = { ...this.headers, host: authority };
    const answer = await client.connect({ path: authority, headers }).catch((cause: unknown) => {
      const error = new EgressProxyError(address, { cause, late: signal.aborted });
      // One that was reached and is late may wait for the target.
      if (!reached || !signal.aborted) this.outages.away(error);
      throw error;
    });
    const { statusCode: status } = answer;
    if (status >= 200 && status < 300) {
      this.outages.back();
      return answer.socket as Socket;
    }
    answer.socket.destroy();
    const error = new EgressProxyError(address, { status });
    if (status === PROXY_AUTHENTICATION_REQUIRED) this.outages.away(error);
    else this.outages.back();
    throw error;
  }
}
