import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from 'express';
import { addressGroup } from '#libs/kernel';

/**
 * What all connections of a process may hold whose sender is not known, and those of one address, in bytes
 * (docs/security/defences.md shows the arithmetic).
 */
export const MAX_BYTES = 32 << 20;
export const MAX_BYTES_OF_ADDRESS = 16 << 20;
/** What a connection holds by itself: Node's objects, and the half of a head, whose bytes Node does not report. */
export const CONNECTION_BYTES = 20 << 10;
/** What a request that is not answered holds, besides the bytes that were sent. */
export const REQUEST_BYTES = 8 << 10;

/** A connection on which nobody has shown credentials, or the last request had none that are known. */
interface Stranger {
  socket: Socket;
  /** Whether it counts. It does not after a request with valid credentials. */
  counts: boolean;
  group: string;
  bytes: number;
  /** Requests that are not answered. */
  requests: number;
  /** Bytes that the connection had received when all its requests were answered. */
  answeredAt: number;
}

/** Connections of one address, the one that was longest without a request first. */
interface Group {
  members: Set<Stranger>;
  bytes: number;
}

const STRANGER = Symbol('stranger');
type KnownSocket = Socket & { [STRANGER]?: [Strangers, Stranger] };

/** Trusted proxies: each carries the connections of many clients, so only the limit of the process applies. */
const PROXIES = '';

/**
 * Limits the memory that connections without an account hold: half-sent heads, bodies, requests that wait for
 * their refusal, unread answers. Beyond a limit, the connection goes that was longest without a request, of the
 * address that holds most. So somebody who floods the process displaces his own connections first, and a client
 * that sends its credentials at once gets in.
 */
class Strangers {
  private readonly groups = new Map<string, Group>();
  private bytes = 0;

  constructor(
    private readonly isProxy: (address: string) => boolean,
    private readonly dropped: () => void,
  ) {}

  meet(socket: Socket): void {
    const stranger: Stranger = {
      socket,
      counts: false,
      group: PROXIES,
      bytes: 0,
      requests: 0,
      answeredAt: 0,
    };
    (socket as KnownSocket)[STRANGER] = [this, stranger];
    socket.once('close', () => this.remove(stranger));
    this.add(stranger, this.groupOf(socket.remoteAddress));
  }

  /** A request has come, whose sender is not known yet. */
  begin(stranger: Stranger, response: ServerResponse): void {
    stranger.requests += 1;
    response.once('close', () => {
      stranger.requests -= 1;
      if (stranger.requests > 0) return;
      stranger.answeredAt = stranger.socket.bytesRead;
      if (stranger.counts) this.add(stranger, this.groupOf(stranger.socket.remoteAddress));
    });
    if (stranger.counts) this.add(stranger, stranger.group);
  }

  /** Counts a connection, or moves it, as the newest one of a group. */
  add(stranger: Stranger, name: string): void {
    this.remove(stranger);
    if (stranger.socket.destroyed) return;
    let group = this.groups.get(name);
    if (!group) this.groups.set(name, (group = { members: new Set(), bytes: 0 }));
    group.members.add(stranger);
    stranger.group = name;
    stranger.counts = true;
    this.measure(stranger);
  }

  /** Counts what a connection holds now. */
  measure(stranger: Stranger): void {
    const { socket, requests, answeredAt } = stranger;
    const received = requests > 0 ? socket.bytesRead - answeredAt : 0;
    const bytes = CONNECTION_BYTES + requests * REQUEST_BYTES + received;
    const group = this.groups.get(stranger.group)!;
    group.bytes += bytes - stranger.bytes;
    this.bytes += bytes - stranger.bytes;
    stranger.bytes = bytes;
    const isLimited = stranger.group !== PROXIES;
    while (isLimited && group.bytes > MAX_BYTES_OF_ADDRESS) this.dropFrom(group);
    while (this.bytes > MAX_BYTES) this.dropFrom(this.largest(group));
  }

  remove(stranger: Stranger): void {
    if (!stranger.counts) return;
    stranger.counts = false;
    this.bytes -= stranger.bytes;
    const group = this.groups.get(stranger.group)!;
    group.bytes -= stranger.bytes;
    stranger.bytes = 0;
    group.members.delete(stranger);
    if (group.members.size === 0) this.groups.delete(stranger.group);
  }

  groupOf(address = ''): string {
    return this.isProxy(address) ? PROXIES : addressGroup(address);
  }

  private largest(known: Group): Group {
    let largest = known;
    for (const group of this.groups.values()) if (group.bytes > largest.bytes) largest = group;
    return largest;
  }

  private dropFrom({ members }: Group): void {
    const oldest = members.values().next().value!;
    this.remove(oldest);
    oldest.socket.destroy();
    this.dropped();
  }
}

/**
 * Limits what the connections of a server hold until their senders are known.
 * @param isProxy whether an address is a trusted proxy's
 */
export function limitStrangers(
  server: Server,
  isProxy: (address: string) => boolean,
  dropped: () => void,
): void {
  const strangers = new Strangers(isProxy, dropped);
  server.prependListener('connection', (socket: Socket) => strangers.meet(socket));
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const [, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
    if (stranger?.counts === true) strangers.begin(stranger, response);
  });
}

/** Notes that a part of a body has come. */
export function noteBody(socket: Socket): void {
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger?.counts === true) strangers.measure(stranger);
}

/** The sender of a request is known: what the connection holds counts for the account. */
export function vouchFor({ socket }: Request): void {
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger?.counts === true) strangers.remove(stranger);
}

/** The sender of a request is not known. Through a proxy, one connection carries requests of many. */
export function noteStranger(request: Request): void {
  const { socket, res: response } = request;
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (!strangers || !stranger || !response) return;
  strangers.add(stranger, strangers.groupOf(request.ip));
  if (stranger.requests === 0) strangers.begin(stranger, response);
}

/**
 * A request is refused, and the answer is delayed. All that is not needed any more goes now, as most of what a
 * flood sends waits here.
 */
export function noteRefused(request: Request): void {
  noteStranger(request);
  request.rawHeaders = [];
  request.headers = {};
  request.url = '/';
  request.originalUrl = '/';
}
