import { STATUS_CODES } from 'node:http';
import { request } from 'undici';
import { CommandFailure } from '../failure.js';
import type { SampleEvent } from './samples.js';

/** The largest batch that the API accepts. */
const MAX_BATCH = 1_000;
/** The API accepts a full batch in well under a second, and reports an unavailable database in a few. */
const ANSWER_TIMEOUT_MS = 30_000;

/** The API's result for one event: accepted, or refused with an `error` sentence. */
export type EventAnswer =
  { href: string; duplicate: boolean; deliveries: number } | { error: string };

/** Reports events to an API like a producer. */
export class EventSender {
  constructor(
    private readonly api: URL,
    private readonly account: { username: string; password: string },
  ) {}

  /**
   * Sends the events, in batches if there is more than one, and yields the answers in order.
   * @throws CommandFailure when a whole request is refused or not answered
   */
  async *send(events: readonly SampleEvent[]): AsyncGenerator<EventAnswer> {
    if (events.length === 1) {
      yield (await this.post('v1/events', events[0])) as EventAnswer;
      return;
    }
    for (let sent = 0; sent < events.length; sent += MAX_BATCH) {
      const batch = { events: events.slice(sent, sent + MAX_BATCH) };
      yield* ((await this.post('v1/events/batch', batch)) as { results: EventAnswer[] }).results;
    }
  }

  private async post(path: string, body: unknown): Promise<unknown> {
    const { status, text } = await this.exchange(path, JSON.stringify(body));
    const answer = objectOf(text);
    if (status === 202 && answer) return answer;
    const why = typeof answer?.error === 'string' ? answer.error : `it answered ${named(status)}.`;
    throw new CommandFailure(`${this.api.origin} refused the request: ${why}`);
  }

  private async exchange(path: string, body: string): Promise<{ status: number; text: string }> {
    // Below the base's own path, with or without a trailing slash.
    const url = new URL(path, this.api.href.replace(/\/*$/, '/'));
    const { username, password } = this.account;
    try {
      const answer = await request(url, {
        method: 'POST',
        headers: {
          'Content-Type': 'application/json',
          Authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`,
        },
        body,
        headersTimeout: ANSWER_TIMEOUT_MS,
        bodyTimeout: ANSWER_TIMEOUT_MS,
      });
      return { status: answer.statusCode, text: await answer.body.text() };
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      throw new CommandFailure(`${url.origin} cannot be reached (${code ?? message}).`);
    }
  }
}

function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}

function named(status: number): string {
  return `${status} ${STATUS_CODES[status] ?? ''}`.trim();
}
