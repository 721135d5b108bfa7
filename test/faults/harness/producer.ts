import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { keyOf } from './receiver.js';

/** The timeout of a request; the service always answers sooner. */
const PATIENCE_MS = 25_000;
const AGAIN_MS = 300;
const BATCH = 200;
const PIECE = 10;

/** The number of failed requests, by kind. */
export interface Failures {
  /** No answer, or an incomplete one. */
  unanswered: number;
  /** 503 with Retry-After. */
  unavailable: number;
  /** Any other answer, which should never happen. */
  wrong: string[];
}

/** An accepted event. Times are in ms of this process's clock. */
export interface Accepted {
  eventId: string;
  /** When it was first reported. */
  reportedAt: number;
  at: number;
}

/** Reports events at a steady rate, each with a unique id, and repeats each until it is accepted. */
export class Producer {
  readonly failures: Failures = { unanswered: 0, unavailable: 0, wrong: [] };
  /** Numbers of the events that were accepted. */
  readonly accepted = new Map<number, Accepted>();
  /** How many were accepted as repeats of stored events. */
  repeats = 0;
  private readonly reporting = new Set<Promise<void>>();
  private count = 0;
  private running = false;

  /**
   * @param to.url the API; `auth` is a platform user's `username:password`; `body` has the members of each event
   * except `id` and `data`; nothing is reported after `end`
   */
  constructor(private readonly to: { url: string; auth: string; body: object; end: AbortSignal }) {}

  /** @param rate events a second */
  start(rate: number): void {
    this.running = true;
    void this.run(rate);
  }

  /** Stops reporting new events; resolves when all are accepted. */
  async finish(): Promise<void> {
    this.running = false;
    await Promise.all(this.reporting);
  }

  /** Reports events all at once; resolves when they are accepted. */
  async report(events: number): Promise<void> {
    await Promise.all(Array.from({ length: events }, () => this.next()));
  }

  /** Reports events in groups small enough to go straight to the queue; resolves when they are accepted. */
  async reportInPieces(count: number): Promise<void> {
    for (let made = 0; made < count; made += PIECE)
      await this.report(Math.min(PIECE, count - made));
  }

  /** Reports events in consecutive batches; resolves when they are accepted. @throws Error if a batch is not */
  async reportMany(events: number, batchSize = BATCH): Promise<void> {
    for (let left = events; left > 0; left -= batchSize) {
      const numbers = Array.from({ length: Math.min(left, batchSize) }, () => (this.count += 1));
      const reportedAt = Date.now();
      const batch = { events: numbers.map((number) => this.eventOf(number)) };
      const answer = await post(this.to, '/v1/events/batch', JSON.stringify(batch));
      if (answer.status !== 202) throw new Error(`a batch was answered with ${answer.text}`);
      const { results } = JSON.parse(answer.text) as { results: { id: string }[] };
      for (const [index, number] of numbers.entries()) {
        this.accepted.set(number, { eventId: results[index]!.id, reportedAt, at: Date.now() });
      }
    }
  }

  /** Reports all events again that were accepted since then (in ms of this process's clock). */
  async reportAgain(since: number): Promise<void> {
    const numbers = [...this.accepted]
      .filter(([, { at }]) => at >= since)
      .map(([number]) => number);
    await Promise.all(numbers.map((number) => this.tracked(number)));
  }

  /**
   * The notifications that subscriptions should get. @param paths the paths of their targets
   */
  promised(paths: readonly string[]): Set<string> {
    const numbers = [...this.accepted.keys()];
    return new Set(paths.flatMap((path) => numbers.map((number) => keyOf({ path, number }))));
  }

  private async run(rate: number): Promise<void> {
    const start = performance.now();
    const before = this.count;
    while (this.running && !this.to.end.aborted) {
      const due = Math.floor(((performance.now() - start) * rate) / 1_000);
      while (this.count - before < due) void this.next();
      await sleep(10);
    }
  }

  private next(): Promise<void> {
    this.count += 1;
    return this.tracked(this.count);
  }

  private tracked(number: number): Promise<void> {
    const reporting = this.reportOne(number);
    this.reporting.add(reporting);
    return reporting.finally(() => this.reporting.delete(reporting));
  }

  private async reportOne(number: number): Promise<void> {
    const reportedAt = Date.now();
    const body = JSON.stringify(this.eventOf(number));
    while (!this.to.end.aborted) {
      const answer = await post(this.to, '/v1/events', body).catch(() => undefined);
      if (answer?.status === 202) {
        const { id, duplicate } = JSON.parse(answer.text) as { id: string; duplicate: boolean };
        this.accepted.set(number, { eventId: id, reportedAt, at: Date.now() });
        if (duplicate) this.repeats += 1;
        return;
      }
      await sleep(this.pauseAfter(answer));
    }
  }

  private eventOf(number: number): object {
    return { id: `event-${String(number)}`, ...this.to.body, data: { number } };
  }

  /** Counts a failure. @returns ms until the event is reported again */
  private pauseAfter(answer: Answer | undefined): number {
    if (answer === undefined) {
      this.failures.unanswered += 1;
      return AGAIN_MS;
    }
    const retryAfter = Number(answer.retryAfter);
    if (answer.status === 503 && retryAfter > 0) {
      this.failures.unavailable += 1;
      return retryAfter * 1_000;
    }
    this.failures.wrong.push(`${String(answer.status)} ${answer.text.slice(0, 200)}`);
    return AGAIN_MS;
  }
}

interface Answer {
  status: number;
  retryAfter: string | undefined;
  text: string;
}

/** Opens a connection for each request, because the front door balances connections. */
function post(
  { url, auth }: { url: string; auth: string },
  path: string,
  body: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const options = { method: 'POST', headers, auth, agent: false, timeout: PATIENCE_MS } as const;
    const asked = request(url + path, options, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.on('error', reject);
      response.on('end', () => {
        const retryAfter = response.headers['retry-after'];
        resolve({ status: response.statusCode ?? 0, retryAfter, text });
      });
    });
    asked.on('timeout', () => asked.destroy(new Error('no answer')));
    asked.on('error', reject);
    asked.end(body);
  });
}
