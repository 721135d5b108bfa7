import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { answersOk } from '#tools/net';

const ASK_EVERY_MS = 200;

/** The length of the kernel's queue for connections. Beyond it, the kernel loses bytes of connections. */
const BACKLOG = 4_096;

/**
 * The proxy in front of the API processes. When a request arrives on a connection, the proxy forwards the connection
 * to a process whose `/health/ready` says that it is ready, round-robin, or to the next one if that refuses. If none is
 * ready, it uses any: a 503 says more than a refused connection.
 */
export class FrontDoor {
  private readonly ready = new Map<number, boolean>();
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  private readonly withdrawn = new Set<number>();
  private turn = 0;
  private asking = true;

  /** @param ports the loopback ports of the API processes */
  constructor(private readonly ports: readonly number[]) {}

  async listen(): Promise<void> {
    this.server = createServer((socket) => this.admit(socket)).listen(0, '127.0.0.1', BACKLOG);
    await once(this.server, 'listening');
    for (const port of this.ports) void this.watch(port);
  }

  get url(): string {
    return `http://127.0.0.1:${String((this.server?.address() as AddressInfo).port)}`;
  }

  /** Sends no more connections to a process, whatever its health says, until {@link letIn}. */
  withdraw(port: number): void {
    this.withdrawn.add(port);
  }

  letIn(port: number): void {
    this.withdrawn.delete(port);
  }

  close(): void {
    this.asking = false;
    this.server?.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private async watch(port: number): Promise<void> {
    while (this.asking) {
      this.ready.set(port, await answersOk(`http://127.0.0.1:${port}/health/ready`));
      await sleep(ASK_EVERY_MS);
    }
  }

  private admit(socket: Socket): void {
    socket.on('error', () => undefined);
    this.track(socket);
    socket.once('readable', () => this.hand(socket, this.candidates()));
  }

  private candidates(): number[] {
    this.turn += 1;
    const turn = this.turn % this.ports.length;
    const inTurn = [...this.ports.slice(turn), ...this.ports.slice(0, turn)];
    const isReady = (port: number) => this.ready.get(port) === true && !this.withdrawn.has(port);
    return [...inTurn.filter(isReady), ...inTurn.filter((port) => !isReady(port))];
  }

  private hand(socket: Socket, [port, ...others]: readonly number[]): void {
    if (port === undefined) {
      socket.resetAndDestroy();
      return;
    }
    const api = connect(port, '127.0.0.1');
    let connected = false;
    api.on('connect', () => {
      connected = true;
      this.track(api);
      if (socket.destroyed) api.destroy();
      socket.on('close', () => api.destroy());
      socket.pipe(api).pipe(socket);
    });
    api.on('error', () => {
      if (connected) socket.resetAndDestroy();
      else this.hand(socket, others);
    });
  }

  private track(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('close', () => this.sockets.delete(socket));
  }
}
