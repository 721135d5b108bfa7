import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A TCP link to a server that can freeze, as a stopped process does, or break. */
export class BreakableLink {
  private readonly sockets = new Set<Socket>();
  private isFrozen = false;
  private server: Server | undefined;

  private constructor(
    private readonly target: string,
    private port = 0,
  ) {}

  /** @param target the URL of the server */
  static async to(target: string): Promise<BreakableLink> {
    const link = new BreakableLink(target);
    await link.restore();
    return link;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Accepts connections and requests, and answers nothing. */
  freeze(): void {
    this.isFrozen = true;
    for (const socket of this.sockets) socket.pause();
  }

  /** Goes on with what has come meanwhile. */
  thaw(): void {
    this.isFrozen = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** Ends all connections, and refuses new ones. */
  async break(): Promise<void> {
    const { server } = this;
    this.server = undefined;
    for (const socket of this.sockets) socket.destroy();
    await new Promise<void>((resolve) => (server ? server.close(() => resolve()) : resolve()));
  }

  /** Accepts connections again, at the same port. */
  async restore(): Promise<void> {
    const server = (this.server = createServer((client) => this.join(client)));
    await new Promise<void>((resolve) => server.listen(this.port, '127.0.0.1', resolve));
    this.port = (server.address() as AddressInfo).port;
  }

  private join(client: Socket): void {
    const { hostname, port } = new URL(this.target);
    const upstream = connect(Number(port), hostname);
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      this.sockets.add(one);
      one.on('data', (bytes) => other.write(bytes));
      one.on('error', () => other.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        other.destroy();
      });
      if (this.isFrozen) one.pause();
    }
  }
}
