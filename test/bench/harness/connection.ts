import { connect, type Socket } from 'node:net';

const HEADERS_END = Buffer.from('\r\n\r\n');
const LAST_CHUNK = '0\r\n\r\n';

/** A request of the load. */
export interface Call {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
}

/**
 * A kept-alive HTTP/1.1 connection for one call at a time. It uses a plain socket, because the load generator shares
 * the machine with the product, and any HTTP client costs twice as much.
 */
export class Connection {
  private readonly socket: Socket;
  private readonly head: string;
  private received: Buffer[] = [];
  private size = 0;
  /** Bytes of the whole answer; undefined until the headers arrive; Infinity: chunked. */
  private expected: number | undefined;
  private settle: { resolve: () => void; reject: (error: Error) => void } | undefined;

  constructor(origin: string) {
    const { hostname, port, host } = new URL(origin);
    this.head = ` HTTP/1.1\r\nHost: ${host}\r\n`;
    this.socket = connect({ host: hostname, port: Number(port), noDelay: true });
    this.socket.on('data', (chunk) => this.take(chunk));
    this.socket.on('error', (error) => this.fail(error));
    this.socket.on('close', () => this.fail(new Error('the connection was closed')));
  }

  get isClosed(): boolean {
    return this.socket.destroyed;
  }

  /** Resolves when the answer has arrived; any status other than 2xx is an error. */
  call({ method, path, headers = {}, body = '' }: Call): Promise<void> {
    let text = method + ' ' + path + this.head;
    for (const [name, value] of Object.entries(headers)) text += `${name}: ${value}\r\n`;
    const length = body === '' ? '' : `Content-Length: ${String(Buffer.byteLength(body))}\r\n`;
    return new Promise((resolve, reject) => {
      this.settle = { resolve, reject };
      this.socket.write(text + length + '\r\n' + body);
    });
  }

  close(): void {
    this.settle = undefined;
    this.socket.destroy();
  }

  private take(chunk: Buffer): void {
    this.received.push(chunk);
    this.size += chunk.length;
    this.expected ??= this.expectedOf();
    if (this.expected === undefined) return;
    const isWhole =
      this.expected === Infinity
        ? chunk.toString('latin1', chunk.length - LAST_CHUNK.length) === LAST_CHUNK
        : this.size >= this.expected;
    if (isWhole) this.finish();
  }

  private expectedOf(): number | undefined {
    const start = Buffer.concat(this.received);
    const end = start.indexOf(HEADERS_END);
    if (end < 0) return undefined;
    const length = /\ncontent-length: *(\d+)/i.exec(start.toString('latin1', 0, end))?.[1];
    return length === undefined ? Infinity : end + HEADERS_END.length + Number(length);
  }

  private finish(): void {
    const { received, settle } = this;
    [this.received, this.size, this.expected, this.settle] = [[], 0, undefined, undefined];
    // `HTTP/1.1 2…`
    if (received[0]?.[9] === 0x32) settle?.resolve();
    else settle?.reject(new Error(Buffer.concat(received).toString()));
  }

  private fail(error: Error): void {
    this.settle?.reject(error);
    this.settle = undefined;
  }
}
