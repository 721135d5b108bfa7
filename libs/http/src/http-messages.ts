import { IncomingMessage, ServerResponse } from 'node:http';
import type { Express } from 'express';

/** Chunks of a body that are shorter are put together, in bytes, but for the first ones. */
const SHORT = 1_024;
const GATHERED = 4_096;
const FIRST = 16;

/** Emitted by a response when its last byte was handed over, whether or not a client is there to take it. */
export const ANSWERED = Symbol('answered');

/**
 * The classes of requests and responses, with the prototypes that Express would give them otherwise,
 * each anew. An object that changes its prototype gets a shape of its own, which nothing that V8
 * compiled holds for: that was half of what an event takes here.
 */
export function messagesFor(app: Express) {
  /**
   * A request whose body takes up about as much memory as it has bytes, however small its chunks: Node
   * would keep half a kilobyte for each.
   */
  class ExpressRequest extends IncomingMessage {
    private chunks = 0;
    private gathered: Buffer | undefined;
    private size = 0;
    private isScheduled = false;

    override push(chunk: Buffer | null): boolean {
      this.chunks += 1;
      if (chunk !== null && chunk.length < SHORT && this.chunks > FIRST) return this.gather(chunk);
      this.passOn();
      return super.push(chunk);
    }

    /** Node formats the stack of the error, 0.4 ms for every request of a connection that is lost. */
    override destroy(error?: Error): this {
      if (error) error.stack = String(error);
      return super.destroy(error);
    }

    override _read(size: number): void {
      this.passOn();
      super._read(size);
    }

    private gather(chunk: Buffer): boolean {
      if (this.size + chunk.length > GATHERED) this.passOn();
      this.gathered ??= Buffer.allocUnsafeSlow(GATHERED);
      // One read of the socket becomes one piece for whoever reads the body.
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
      // Not of Node's pool, of which a few bytes would keep 8 KiB.
      const piece = Buffer.allocUnsafeSlow(size);
      gathered.copy(piece);
      super.push(piece);
    }
  }

  class ExpressResponse extends ServerResponse<ExpressRequest> {
    override end(...last: unknown[]): this {
      super.end(...(last as Parameters<ServerResponse['end']>));
      this.emit(ANSWERED);
      return this;
    }
  }

  Object.setPrototypeOf(ExpressRequest.prototype, app.request);
  Object.setPrototypeOf(ExpressResponse.prototype, app.response);
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype });
  return { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse };
}
