import { IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { Express } from 'express';
import { noteBody } from './unauthenticated-connections.js';

/** Shorter chunks of a body are merged, except the first ones. In bytes. */
const SHORT_BYTES = 1_024;
const MERGED_BYTES = 4_096;
const FIRST_CHUNKS = 16;

/**
 * Classes for requests and responses that already have Express' prototypes. Express would set the prototype
 * of each object, which gives it a new shape, so that V8's compiled code does not apply: that took half of
 * the time of an event here.
 */
export function messagesFor(app: Express) {
  /**
   * A request whose body needs about as much memory as it has bytes, however small its chunks. Node would use
   * half a kilobyte for each chunk.
   */
  class ExpressRequest extends IncomingMessage {
    private chunks = 0;
    private gathered: Buffer | undefined;
    private size = 0;
    private isScheduled = false;

    override push(chunk: Buffer | null): boolean {
      this.chunks += 1;
      if (chunk !== null) noteBody(this.socket);
      const isShort = chunk !== null && chunk.length < SHORT_BYTES;
      if (isShort && this.chunks > FIRST_CHUNKS) return this.gather(chunk);
      this.passOn();
      return super.push(chunk);
    }

    /** Keeps Node from formatting the error's stack, 0.4 ms for each request of a lost connection. */
    override destroy(error?: Error): this {
      if (error) error.stack = String(error);
      return super.destroy(error);
    }

    override _read(size: number): void {
      this.passOn();
      super._read(size);
    }

    private gather(chunk: Buffer): boolean {
      if (this.size + chunk.length > MERGED_BYTES) this.passOn();
      this.gathered ??= Buffer.allocUnsafeSlow(MERGED_BYTES);
      // The reader of the body gets one piece for each read of the socket.
      if (this.readableFlowing !== null && !this.isScheduled) {
        this.isScheduled = true;
        process.nextTick(() => {
          this.isScheduled = false;
          this.passOn();
        });
      }
      this.size += chunk.copy(this.gathered, this.size);
      return this.readableLength < this.readableHighWaterMark;
    }

    private passOn(): void {
      const { gathered, size } = this;
      if (!gathered || size === 0) return;
      this.size = 0;
      // Not from Node's pool, where a few bytes would retain 8 KiB.
      const piece = Buffer.allocUnsafeSlow(size);
      gathered.copy(piece);
      super.push(piece);
    }
  }

  class ExpressResponse extends ServerResponse<ExpressRequest> {}

  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}

const waiting = new WeakSet<IncomingMessage>();

/**
 * Answers `Expect: 100-continue` only when a route reads the body. Node would request the body at once, even
 * for a request that is then refused.
 */
export function leaveContinueToRoutes(server: Server): void {
  server.on('checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    waiting.add(request);
    // A refused client may or may not send its body, so the connection cannot be reused.
    response.setHeader('Connection', 'close');
    server.emit('request', request, response);
  });
}

/** Whether the client waits for `100 Continue` before it sends the body. */
export function isWaiting(request: IncomingMessage): boolean {
  return waiting.has(request);
}

/** Sends `100 Continue` to a client that waits for it. */
export function sendContinue(request: IncomingMessage, response: ServerResponse): void {
  if (!waiting.delete(request)) return;
  response.removeHeader('Connection');
  response.writeContinue();
}
