import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from 'express';
import { addressGroup } from '#libs/kernel';

/**
 * Memory limits for unauthenticated connections, in bytes: of the whole process, and of one address
 * (docs/security/defences.md shows the arithmetic).
 */
export const MAX_BYTES = 32 << 20;
export const MAX_BYTES_OF_ADDRESS = 16 << 20;
/** What a connection takes by itself: Node's objects, and half-sent headers, whose bytes Node does not report. */
export const CONNECTION_BYTES = 20 << 10;
/** What an unanswered request takes, besides the bytes that the client sent. */
export const REQUEST_BYTES = 8 << 10;

/** A connection without valid credentials: it never sent any, or its last request had invalid ones. */
interface Stranger {
  socket: Socket;
  /** Whether it counts towards the limits: not after a request with valid credentials. */
  counts: boolean;
  group: string;
  bytes: number;
  /** Unanswered requests, also those with valid credentials. */
  requests: number;
  /** Bytes received on the connection when the last request was answered. */
  answeredAt: number;
}

/** Connections of one address, the one with the oldest request first. */
interface Group {
  members: Set<Stranger>;
  bytes: number;
}

const STRANGER = Symbol('stranger');
type KnownSocket = Socket & { [STRANGER]?: [Strangers, Stranger] };

/** Trusted proxies: each carries the connections of many clients, so only the limit of the process applies. */
const PROXIES = '';

/**
 * Limits the memory of unauthenticated connections: half-sent headers, bodies, delayed refusals, unread answers.
 * Beyond a limit, it closes the connection with the oldest request, of the address that takes most memory, but none
 * that takes less than half the average. So a flood displaces its own connections first, and a client that sends its
 * credentials at once gets in.
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

  /** Notes a request, and counts it unless its connection has valid credentials. */
  begin(stranger: Stranger): void {
    stranger.requests += 1;
    if (stranger.counts) this.add(stranger, stranger.group);
  }

  end(stranger: Stranger): void {
    stranger.requests -= 1;
    if (stranger.counts && stranger.requests > 0) return;
    // What an account has sent never counts, should a later request have no valid credentials.
    stranger.answeredAt = stranger.socket.bytesRead;
    if (stranger.counts) this.add(stranger, this.groupOf(stranger.socket.remoteAddress));
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

  /** Updates the memory that a connection takes. */
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

  private dropFrom({ members, bytes }: Group): void {
    const least = bytes / members.size / 2;
    for (const one of members) {
      if (one.bytes < least) continue;
      this.remove(one);
      one.socket.destroy();
      this.dropped();
      return;
    }
  }
}

/**
 * Limits the memory of a server's connections until their senders are authenticated.
 * @param isProxy whether an address is a trusted proxy's
 */
export function limitStrangers(
  server: Server,
  isProxy: (address: string) => boolean,
  dropped: () => void,
): void {
  const strangers = new Strangers(isProxy, dropped);
  server.prependListener('connection', (socket: Socket) => strangers.meet(socket));
}

/** Notes a request of a connection until {@link noteAnswered}. */
export function noteRequest(socket: Socket): void {
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger) strangers.begin(stranger);
}

/** Notes that the last byte of an answer was sent, or the connection lost. */
export function noteAnswered(socket: Socket): void {
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger) strangers.end(stranger);
}

/** Counts a received part of a body. */
export function noteBody(socket: Socket): void {
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger?.counts === true) strangers.measure(stranger);
}

/** Stops counting the connection of an authenticated request: its memory now counts for the account. */
export function vouchFor({ socket }: Request): void {
  const [strangers, stranger] = (socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger?.counts === true) strangers.remove(stranger);
}

/** Counts the connection of an unauthenticated request. A proxy's connection carries requests of many clients. */
export function noteStranger(request: Request): void {
  const [strangers, stranger] = (request.socket as KnownSocket)[STRANGER] ?? [];
  if (strangers && stranger) strangers.add(stranger, strangers.groupOf(request.ip));
}

/**
 * Counts a request whose refusal is delayed, and frees what it no longer needs: most requests of a flood wait
 * here.
 */
export function noteRefused(request: Request): void {
  noteStranger(request);
  request.rawHeaders = [];
  request.headers = {};
  request.url = '/';
  request.originalUrl = '/';
}
