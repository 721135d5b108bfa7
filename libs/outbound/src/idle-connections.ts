import type { Socket } from 'node:net';
import { swapRemove } from '#libs/kernel';

/** A connection that was used at least once, and may be used again. */
interface KeptConnection {
  socket: Socket;
  accountId: string;
  /** As `performance.now()`; undefined while it is in use. */
  idleSince: number | undefined;
}

const records = new WeakMap<Socket, KeptConnection>();

/** Call when a request is sent on the connection. */
export function leaveIdle(socket: Socket): void {
  const known = records.get(socket);
  if (known) known.idleSince = undefined;
}

/**
 * Bounds the connections that stay open after their calls, because each takes a file descriptor, and targets choose how long
 * they stay open. Beyond the bound, idle ones are closed: first those of the accounts that have most, and of these the ones
 * that have been idle for longest.
 */
export class IdleConnections {
  private readonly kept: KeptConnection[] = [];

  constructor(private readonly most: number) {}

  /** Call when an answer has ended, and the connection may be used again by this account. */
  add(socket: Socket, accountId: string): void {
    if (socket.destroyed) return;
    const idleSince = performance.now();
    const known = records.get(socket);
    if (known) {
      known.idleSince = idleSince;
      return;
    }
    const added = { socket, accountId, idleSince };
    records.set(socket, added);
    this.kept.push(added);
    socket.once('close', () => swapRemove(this.kept, added));
    if (this.kept.length > this.most) this.closeSome();
  }

  /** A tenth at once, so that choosing them costs little for each. */
  private closeSome(): void {
    const latestFirst = this.kept
      .filter(({ idleSince }) => idleSince !== undefined)
      .toSorted((one, other) => other.idleSince! - one.idleSince!);
    const countOf = new Map<string, number>();
    const counted = latestFirst.map(({ socket, accountId }) => {
      const count = (countOf.get(accountId) ?? 0) + 1;
      countOf.set(accountId, count);
      return { socket, count };
    });
    const chosen = counted.toReversed().toSorted((one, other) => other.count - one.count);
    for (const { socket } of chosen.slice(0, Math.ceil(this.most / 10))) socket.destroy();
  }
}
