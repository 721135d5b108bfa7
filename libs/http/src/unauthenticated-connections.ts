import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import type { Request } from 'express';
import { addressGroup } from '#libs/kernel';

/**
 * Memory limits for unauthenticated connections, in bytes: of the whole process, and of one address
 * (docs/security/defences/strangers.md shows the arithmetic).
 */
export const MAX_BYTES = 32 << 20;
export const MAX_BYTES_OF_ADDRESS = 16 << 20;
/** The memory of a connection itself: Node's objects, and half-sent headers, whose bytes Node does not report. */
export const CONNECTION_BYTES = 20 << 10;
/** The memory of an unanswered request, besides the bytes that the client sent. */
export const REQUEST_BYTES = 8 << 10;

/** A connection without valid credentials: it never sent any, or its last request had invalid ones. */
interface Connection {
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
  members: Set<Connection>;
  bytes: number;
}

const CONNECTION = Symbol('unauthenticated connection');
type KnownSocket = Socket & { [CONNECTION]?: [UnauthenticatedConnections, Connection] };

/** Trusted proxies: each carries the connections of many clients, so only the limit of the process applies. */
const PROXIES = '';

/**
 * Limits the memory of unauthenticated connections: half-sent headers, bodies, delayed refusals, unread answers.
 * Beyond a limit, it closes the connection with the oldest request, of the address that takes most memory, but none
 * that takes less than half the average. So a flood displaces its own connections first, and a client that sends its
 * credentials at once gets in.
 */
class UnauthenticatedConnections {
  private readonly groups = new Map<string, Group>();
  private bytes = 0;

  constructor(
    private readonly isProxy: (address: string) => boolean,
    private readonly dropped: () => void,
  ) {}

  meet(socket: Socket): void {
    const connection: Connection = {
      socket,
      counts: false,
      group: PROXIES,
      bytes: 0,
      requests: 0,
      answeredAt: 0,
    };
    (socket as KnownSocket)[CONNECTION] = [this, connection];
    socket.once('close', () => this.remove(connection));
    this.add(connection, this.groupOf(socket.remoteAddress));
  }

  /** Notes a request, and counts it unless its connection has valid credentials. */
  begin(connection: Connection): void {
    connection.requests += 1;
    if (connection.counts) this.add(connection, connection.group);
  }

  end(connection: Connection): void {
    connection.requests -= 1;
    if (connection.counts && connection.requests > 0) return;
    // What an account has sent never counts, should a later request have no valid credentials.
    connection.answeredAt = connection.socket.bytesRead;
    if (connection.counts) this.add(connection, this.groupOf(connection.socket.remoteAddress));
  }

  /** Counts a connection, or moves it, as the newest one of a group. */
  add(connection: Connection, name: string): void {
    this.remove(connection);
    if (connection.socket.destroyed) return;
    let group = this.groups.get(name);
    if (!group) this.groups.set(name, (group = { members: new Set(), bytes: 0 }));
    group.members.add(connection);
    connection.group = name;
    connection.counts = true;
    this.measure(connection);
  }

  /** Updates the memory that a connection takes. */
  measure(connection: Connection): void {
    const { socket, requests, answeredAt } = connection;
    const received = requests > 0 ? socket.bytesRead - answeredAt : 0;
    const bytes = CONNECTION_BYTES + requests * REQUEST_BYTES + received;
    const group = this.groups.get(connection.group)!;
    group.bytes += bytes - connection.bytes;
    this.bytes += bytes - connection.bytes;
    connection.bytes = bytes;
    const isLimited = connection.group !== PROXIES;
    while (isLimited && group.bytes > MAX_BYTES_OF_ADDRESS) this.dropFrom(group);
    while (this.bytes > MAX_BYTES) this.dropFrom(this.largest(group));
  }

  remove(connection: Connection): void {
    if (!connection.counts) return;
    connection.counts = false;
    this.bytes -= connection.bytes;
    const group = this.groups.get(connection.group)!;
    group.bytes -= connection.bytes;
    connection.bytes = 0;
    group.members.delete(connection);
    if (group.members.size === 0) this.groups.delete(connection.group);
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
export function limitUnauthenticated(
  server: Server,
  isProxy: (address: string) => boolean,
  dropped: () => void,
): void {
  const connections = new UnauthenticatedConnections(isProxy, dropped);
  server.prependListener('connection', (socket: Socket) => connections.meet(socket));
}

/** Notes a request of a connection until {@link noteAnswered}. */
export function noteRequest(socket: Socket): void {
  const [connections, connection] = (socket as KnownSocket)[CONNECTION] ?? [];
  if (connections && connection) connections.begin(connection);
}

/** Notes that the last byte of an answer was sent, or the connection lost. */
export function noteAnswered(socket: Socket): void {
  const [connections, connection] = (socket as KnownSocket)[CONNECTION] ?? [];
  if (connections && connection) connections.end(connection);
}

/** Counts a received part of a body. */
export function noteBody(socket: Socket): void {
  const [connections, connection] = (socket as KnownSocket)[CONNECTION] ?? [];
  if (connections && connection?.counts === true) connections.measure(connection);
}

/** Stops counting the connection of an authenticated request: its memory now counts for the account. */
export function markAuthenticated({ socket }: Request): void {
  const [connections, connection] = (socket as KnownSocket)[CONNECTION] ?? [];
  if (connections && connection?.counts === true) connections.remove(connection);
}

/** Counts the connection of an unauthenticated request. A proxy's connection carries requests of many clients. */
export function markUnauthenticated(request: Request): void {
  const [connections, connection] = (request.socket as KnownSocket)[CONNECTION] ?? [];
  if (connections && connection) connections.add(connection, connections.groupOf(request.ip));
}

/**
 * Counts a request whose refusal is delayed, and frees what it no longer needs: most requests of a flood wait
 * here.
 */
export function noteRefused(request: Request): void {
  markUnauthenticated(request);
  request.rawHeaders = [];
  request.headers = {};
  request.url = '/';
  request.originalUrl = '/';
}
