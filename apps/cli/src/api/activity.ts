import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { type EventSourceMessage } from 'eventsource-parser';
import { EventSourceParserStream } from 'eventsource-parser/stream';
import { type ApiConnection, UnavailableFailure } from './api-connection.js';

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 10_000;

/** An event of the stream; `data` is JSON text. */
interface Activity {
  event: string;
  data: string;
}

/**
 * The account's activity, from the event `open` on, until the signal. It reconnects when the connection breaks, and
 * resumes after the last event.
 * @throws CommandFailure when the stream is refused, or cannot be opened the first time
 */
export async function* activityOf(
  api: ApiConnection,
  signal: AbortSignal,
): AsyncGenerator<Activity> {
  const isStopped = (): boolean => signal.aborted;
  let place: string | undefined;
  let pauseMs = FIRST_PAUSE_MS;
  while (!isStopped()) {
    try {
      const headers = place === undefined ? {} : { 'last-event-id': place };
      for await (const { id, event = '', data } of messagesOf(
        await api.open('v1/stream', headers, signal),
      )) {
        pauseMs = FIRST_PAUSE_MS;
        place = id ?? place;
        yield { event, data };
      }
    } catch (error) {
      const isExpected = place !== undefined && error instanceof UnavailableFailure;
      if (!isExpected && !isStopped()) throw error;
    }
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
  }
}

async function* messagesOf(body: Readable): AsyncGenerator<EventSourceMessage> {
  // Not ReadableStream.from(), which keeps the connection open until the next bytes arrive.
  const bytes = Readable.toWeb(body) as ReadableStream<Uint8Array>;
  try {
    yield* bytes.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream());
  } catch {
    // The connection broke, or the command was stopped.
  }
}
