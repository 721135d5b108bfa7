import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';
import { codingsOf, decompressed, MAX_BODY_BYTES, textOf } from './answer-body.js';
import { DeadlineError } from './outbound-error.js';
import { restoredHeaders } from './plain-head.js';

/** How long an answer's body is read. */
const BODY_MS = 1_000;

/** An answer, with the start of its body. */
export interface Answer {
  status: number;
  /** When its headers had arrived, as `performance.now()`. */
  at: number;
  headers: IncomingHttpHeaders;
  responseBody?: string;
  /** How long reading the body took, in ms. */
  bodyMs: number;
  /** Whether the body was longer, or did not arrive in time. */
  truncated: boolean;
}

/**
 * Reads the answer to one request of undici's `dispatch`. undici's `request` would create a stream for each
 * body, and most bodies are empty.
 */
export class AnswerReader implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private timer: NodeJS.Timeout;
  private failure: Error | undefined;
  private answer: Pick<Answer, 'status' | 'at' | 'headers'> | undefined;
  private body: Buffer | undefined;
  private size = 0;
  private isSettled = false;

  /**
   * @param timeoutMs until the headers of the answer
   * @param reject called with a DeadlineError or undici's error
   */
  constructor(
    timeoutMs: number,
    private readonly resolve: (answer: Answer | Promise<Answer>) => void,
    private readonly reject: (error: Error) => void,
  ) {
    // Sockets are read after timers. If the process itself was late, the answer may already have arrived, and
    // a retry would call the target again.
    this.timer = setTimeout(() => setImmediate(() => this.giveUp()), timeoutMs);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // The timeout came before the connection, so nothing is sent.
    if (this.failure) controller.abort(this.failure);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: IncomingHttpHeaders,
  ): void {
    if (this.failure) return;
    clearTimeout(this.timer);
    this.answer = { status, at: performance.now(), headers: restoredHeaders(headers) };
    this.timer = setTimeout(() => this.cut(), BODY_MS);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    // Copied, because keeping one-byte chunks would take a hundred times as much memory.
    this.body ??= Buffer.allocUnsafeSlow(MAX_BODY_BYTES);
    const copied = chunk.copy(this.body, this.size);
    this.size += copied;
    if (copied < chunk.length) this.cut();
  }

  onResponseEnd(): void {
    this.settle(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    // The connection was lost during the body. The status counts, and the received part is kept.
    if (this.answer) this.settle(true);
    else this.fail(error);
  }

  private giveUp(): void {
    if (this.answer) return;
    const failure = new DeadlineError();
    this.fail(failure);
    this.controller?.abort(failure);
  }

  private cut(): void {
    this.settle(true);
    this.controller?.abort(new Error('enough of the answer was read'));
  }

  private fail(error: Error): void {
    clearTimeout(this.timer);
    this.failure ??= error;
    this.reject(error);
  }

  private settle(truncated: boolean): void {
    clearTimeout(this.timer);
    const { answer, body } = this;
    if (!answer || this.isSettled) return;
    this.isSettled = true;
    const bodyMs = performance.now() - answer.at;
    if (!body) {
      this.resolve({ ...answer, bodyMs, truncated });
      return;
    }
    const finish = (start: { body: Buffer; truncated: boolean }): Answer => {
      const text = textOf(start, answer.headers);
      return { ...answer, ...(text && { responseBody: text }), bodyMs, truncated: start.truncated };
    };
    const start = { body: body.subarray(0, this.size), truncated };
    const codings = codingsOf(answer.headers);
    // Without a promise for each answer.
    if (codings.length === 0) this.resolve(finish(start));
    else this.resolve(decompressed(start, codings).then(finish));
  }
}
