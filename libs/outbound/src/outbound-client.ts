import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Agent, Pool } from 'undici';
import type { OwnFault } from '#libs/kernel';
import { CONFIG, type Config, keptConnections, Tracing } from '#libs/runtime';
import { type Answer, AnswerReader, uncoded } from './answer-reader.js';
import {
  addressOf,
  DeadlineError,
  failureOf,
  type OutboundFailure,
  outboundErrorOf,
  OwnFaultError,
  ownFaultOf,
} from './outbound-errors.js';
import { basicCredentialsOf, requestedPathOf } from './target-url.js';
import { connectorFor, dialled } from './connector.js';
import { Dialer, type OpeningTimes } from './dialer.js';
import { expectAnswer, isSilent } from './answer-heads.js';
import { IdleConnections, leaveIdle } from './idle-connections.js';

/** More than `readByHeads` passes on, because undici creates an error for each header beyond its limit. */
const MAX_HEADER_BYTES = 1 << 20;
const MAX_KEPT_HEADER_CHARACTERS = 4_096;
/**
 * TCP sends this much without an acknowledgement (RFC 6928). After a longer body, the connection is not reused,
 * because the rest of it may be unsent when the answer arrives.
 */
const FIRST_FLIGHT_BYTES = 14_600;

/** The connection that a request was sent on, and whether it was used before. */
interface Sending {
  socket: Socket;
  address: string;
  isReused: boolean;
  /** As `performance.now()`. */
  at: number;
  opening: OpeningTimes;
}

/** By the body of the request. undici reveals the socket only in its diagnostics channel. */
const sendings = new WeakMap<object, Sending>();
const used = new WeakSet<Socket>();
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: { body?: unknown }; socket: Socket };
  expectAnswer(socket);
  leaveIdle(socket);
  const connection = dialled(socket);
  if (!Buffer.isBuffer(request.body) || !connection) return;
  const { address, times: opening } = connection;
  const isReused = used.has(socket);
  sendings.set(request.body, { socket, address, isReused, at: performance.now(), opening });
  used.add(socket);
});

/** One POST to an address that a customer chose. */
interface OutboundRequest {
  /** Whose target it is. No connection is used for two accounts. */
  accountId: string;
  url: string;
  headers: Record<string, string>;
  body: string;
  /** The timeout until the status line and headers of the answer. */
  timeoutMs: number;
}

/** How long the parts of a call took, in ms. Opening a connection is absent if one was reused. */
interface CallPhases extends Partial<OpeningTimes> {
  /** From sending the request until the headers of the answer. */
  firstByte?: number;
  body?: number;
}

/** The outcome of a request: a status or an error. */
interface OutboundAnswer extends Partial<OutboundFailure> {
  durationMs: number;
  phases: CallPhases;
  status?: number;
  /** The address that was called. */
  address?: string;
  responseHeaders?: Record<string, string | string[]>;
  responseBody?: string;
  /** Whether the body was longer than the part that is kept. */
  truncated: boolean;
}

/** Calls customers' addresses with undici. Connections are reused; redirects are not followed. */
@Injectable()
export class OutboundClient implements OnApplicationShutdown {
  /**
   * By timeout in whole seconds, and by whether each call gets a new connection: the connect timeout belongs
   * to an agent as a whole.
   */
  private readonly agents = new Map<string, Agent>();
  private readonly idle: IdleConnections;

  constructor(
    private readonly dialer: Dialer,
    private readonly tracing: Tracing,
    @Inject(CONFIG) config: Config,
  ) {
    this.idle = new IdleConnections(keptConnections(config));
  }

  private agentFor(timeoutMs: number, { isNew }: { isNew: boolean }): Agent {
    const seconds = Math.ceil(timeoutMs / 1_000);
    const key = isNew ? `${seconds} new` : `${seconds}`;
    const known = this.agents.get(key);
    if (known) return known;
    const agent = new Agent({
      factory: (key, options) => new Pool(new URL(key).origin, options),
      connect: connectorFor(this.dialer, seconds * 1_000),
      // As many connections as calls: the limit is per subscription, and several can share a host.
      // With 0, each call gets its own connection.
      pipelining: isNew ? 0 : 1,
      maxHeaderSize: MAX_HEADER_BYTES,
      // Our own deadlines replace undici's coarse timers.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.agents.set(key, agent);
    return agent;
  }

  /**
   * Every answer and every failure of the target is an outcome.
   * @throws OwnFaultError if the call failed on our own side
   */
  post(request: OutboundRequest): Promise<OutboundAnswer> {
    if (!this.tracing.enabled) return this.exchange(request);
    // Not the whole URL, because its path and query may contain a customer's secrets.
    const { hostname } = new URL(request.url);
    const attributes = { 'http.request.method': 'POST', 'server.address': hostname };
    return this.tracing.span({ name: 'POST', kind: 'client', attributes }, async (span) => {
      const { traceparent } = this.tracing;
      const headers = { ...request.headers, ...(traceparent !== undefined && { traceparent }) };
      const answer = await this.exchange({ ...request, headers });
      const { status, error } = answer;
      if (status !== undefined) span.set('http.response.status_code', status);
      if (error !== undefined) span.fail(error);
      else if (status !== undefined && status >= 300) span.fail(String(status));
      return answer;
    });
  }

  private async exchange(request: OutboundRequest): Promise<OutboundAnswer> {
    const start = performance.now();
    const body = Buffer.from(request.body);
    const facts = (
      at: number,
      failure?: unknown,
    ): Pick<OutboundAnswer, 'durationMs' | 'address'> => {
      const address = sendings.get(body)?.address ?? addressOf(failure);
      return { durationMs: at - start, ...(address !== undefined && { address }) };
    };
    try {
      const { status, at, headers, bodyMs, ...answered } = await this.send(request, body);
      const phases = { ...phasesUntil(at, sendings.get(body)), body: bodyMs };
      return { status, ...facts(at), phases, responseHeaders: keptHeaders(headers), ...answered };
    } catch (error) {
      const fault = ownFaultOf(error) ?? (await this.stuckOn(request, body, error, start));
      if (fault !== undefined) throw new OwnFaultError(fault, error);
      const failed = { ...failureOf(error), truncated: false };
      const phases = phasesUntil(undefined, sendings.get(body));
      return { ...facts(performance.now(), error), phases, ...failed };
    } finally {
      // Otherwise it would stay until a full garbage collection.
      sendings.delete(body);
    }
  }

  /** What of our own the call had waited for when its time was over, without a connection. */
  private async stuckOn(
    { url }: OutboundRequest,
    body: Buffer,
    error: unknown,
    since: number,
  ): Promise<OwnFault | undefined> {
    if (!(error instanceof DeadlineError) || sendings.has(body)) return undefined;
    return this.dialer.stuckOn(new URL(url).hostname, since);
  }

  /**
   * A target may close an idle connection just when a request is sent on it. That is not a failure of the
   * target, so the request is sent again on a new connection, within the same timeout. RFC 9110, section 9.2.2,
   * allows that for a POST that is safe to repeat: receivers recognise repeats by their id.
   * @throws DeadlineError, and errors of undici
   */
  private async send(request: OutboundRequest, body: Buffer): Promise<Answer> {
    const deadline = performance.now() + request.timeoutMs;
    try {
      return await this.dispatch(request, body, { isNew: false });
    } catch (error) {
      const sending = sendings.get(body);
      const isStale = sending?.isReused === true && isSilent(sending.socket);
      if (!isStale || outboundErrorOf(error) !== 'reset') throw error;
      sendings.delete(body);
      const timeoutMs = deadline - performance.now();
      return this.dispatch({ ...request, timeoutMs }, body, { isNew: true });
    }
  }

  /** @param on.isNew whether to use a new connection */
  private dispatch(
    request: OutboundRequest,
    body: Buffer,
    on: { isNew: boolean },
  ): Promise<Answer> {
    const { accountId, headers, timeoutMs } = request;
    const url = new URL(request.url);
    const credentials = basicCredentialsOf(url);
    return new Promise((resolve, reject) => {
      const end = (answer: Answer | Promise<Answer>): void => {
        this.endOf(sendings.get(body)?.socket, accountId);
        resolve(answer);
      };
      const reader = new AnswerReader(timeoutMs, end, reject);
      this.agentFor(timeoutMs, on).dispatch(
        {
          // undici keeps a pool for each of these. A target could answer the next notification on a connection in
          // advance, so no pool serves two accounts.
          origin: `${url.origin}/${accountId}`,
          path: requestedPathOf(url),
          method: 'POST',
          headers: {
            ...uncoded(headers),
            ...(credentials !== undefined && { authorization: credentials }),
          },
          body,
          ...(body.length > FIRST_FLIGHT_BYTES && { reset: true }),
        },
        reader,
      );
    });
  }

  /** At the end of an answer, before undici may use the connection again. */
  private endOf(socket: Socket | undefined, accountId: string): void {
    if (!socket) return;
    // Otherwise the rest of this request would precede the next one.
    if (socket.writableLength > 0) socket.destroy();
    this.idle.add(socket, accountId);
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.agents.values()].map((agent) => agent.destroy()));
  }
}

/** @param answeredAt undefined if there was no answer */
function phasesUntil(answeredAt: number | undefined, sending: Sending | undefined): CallPhases {
  if (!sending) return {};
  return {
    ...(!sending.isReused && sending.opening),
    ...(answeredAt !== undefined && { firstByte: answeredAt - sending.at }),
  };
}

/** The first headers of the answer up to the limit, including Retry-After, which we obey. */
function keptHeaders(headers: Record<string, string | string[] | undefined>) {
  const kept: Record<string, string | string[]> = {};
  let room = MAX_KEPT_HEADER_CHARACTERS;
  const { 'retry-after': retryAfter, ...others } = headers;
  for (const [name, value] of Object.entries({ 'retry-after': retryAfter, ...others })) {
    if (value === undefined) continue;
    room -= name.length + String(value).length;
    if (room < 0) break;
    kept[name] = value;
  }
  return kept;
}
