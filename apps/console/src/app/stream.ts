import type { EventSourceMessage } from 'eventsource-parser';
import { useEffect, useEffectEvent } from 'react';
import { answerOf, api, RefusedError, type Schemas } from './api.js';
import { SilenceError } from './fetch-in-time.js';
import { queryClient } from './query-client.js';
import { SESSION_KEY } from './session-state.js';
import { checkSession } from './session.js';
import { Store } from './store.js';

/** The stream's events, by name. */
export interface Messages {
  delivery: Schemas['Delivery'];
  attempt: Schemas['Attempt'] & { deliveryId: string };
  webhook: Schemas['Webhook'];
}

type Handlers = { [Name in keyof Messages]?: (message: Messages[Name]) => void };

/**
 * `interrupted`: the API answers, but has no stream; `unreachable`: nothing answers, `since` the last sign of life. The
 * page misses updates until it is `live` again.
 */
export type StreamState =
  | { readonly name: 'connecting' | 'live' | 'interrupted' }
  | { readonly name: 'unreachable'; readonly since: string };

const NAMES: readonly string[] = ['delivery', 'attempt', 'webhook'];
/** A stream that ends, as when a process is replaced, is opened again at once. */
const RECONNECT_MS = 1_000;
/** After a failure. */
const AGAIN_MS = 5_000;
/** An account has at most five streams, and browsers limit connections, so hidden pages close theirs. */
const HIDDEN_MS = 60_000;

const CONNECTING: StreamState = { name: 'connecting' };
const LIVE: StreamState = { name: 'live' };
const INTERRUPTED: StreamState = { name: 'interrupted' };

export const streamState = new Store<StreamState>(CONNECTING);

/** How often the stream was opened after it had been lost. */
export const reopenings = new Store(0);

const listeners = new Set<(name: keyof Messages, message: never) => void>();

/** Follows the account's activity. @returns a function that stops */
export function openStream(): () => void {
  let connection: AbortController | undefined;
  let timer: number | undefined;
  /** The last event, from which the API resumes. */
  let place: string | undefined;
  /** The last sign of life; at first, when it began to listen. */
  let heardAt: Date | undefined;
  let wasLost = false;
  // The data on screen may predate the stream.
  let hasMissed = true;

  function onEvent({ id, event, data }: EventSourceMessage): void {
    place = id ?? place;
    if (event === 'open') onOpen();
    else if (event === 'interrupted') readAgain();
    else if (event !== undefined && NAMES.includes(event)) {
      const message = JSON.parse(data) as never;
      for (const listener of listeners) listener(event as keyof Messages, message);
    }
  }

  function onOpen(): void {
    streamState.set(LIVE);
    if (hasMissed) readAgain();
    if (wasLost) reopenings.set(reopenings.get() + 1);
    hasMissed = wasLost = false;
  }

  // Not an EventSource, which hides the comments that are the signs of life, and why it was refused.
  async function receive(signal: AbortSignal): Promise<void> {
    const resume = place === undefined ? {} : { 'Last-Event-ID': place };
    const headers = { Accept: 'text/event-stream', ...resume };
    const call = api.GET('/v1/stream', { parseAs: 'stream', headers, signal });
    const reader = ((await answerOf(call)) as ReadableStream<Uint8Array>).getReader();
    const decoder = new TextDecoder();
    // Not needed before the first page is shown.
    const { createParser } = await import('eventsource-parser');
    const parser = createParser({ onEvent });
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      heardAt = new Date();
      parser.feed(decoder.decode(read.value, { stream: true }));
    }
  }

  async function open(): Promise<void> {
    window.clearTimeout(timer);
    heardAt ??= new Date();
    const { signal } = (connection = new AbortController());
    const error = await receive(signal).catch((reason: unknown) => reason);
    if (signal.aborted) return;
    connection = undefined;
    wasLost = true;
    // It ends with the session, too.
    void checkSession();
    const hadOpened = streamState.get() === LIVE && !(error instanceof SilenceError);
    if (!hadOpened) hasMissed = true;
    streamState.set(hadOpened ? CONNECTING : stateAfter(error));
    timer = window.setTimeout(() => void open(), hadOpened ? RECONNECT_MS : AGAIN_MS);
  }

  function stateAfter(error: unknown): StreamState {
    if (error instanceof RefusedError && ![502, 504].includes(error.status)) return INTERRUPTED;
    return { name: 'unreachable', since: (heardAt ?? new Date()).toISOString() };
  }

  function close(): void {
    window.clearTimeout(timer);
    connection?.abort();
    connection = undefined;
    place = heardAt = undefined;
    hasMissed = true;
    streamState.set(INTERRUPTED);
  }

  function onVisibility(): void {
    window.clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(close, HIDDEN_MS);
    else if (!connection) void open();
  }

  void open();
  document.addEventListener('visibilitychange', onVisibility);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    close();
    streamState.set(CONNECTING);
  };
}

/** Messages may have been lost, so refetch everything on screen. */
function readAgain(): void {
  void queryClient.invalidateQueries({
    predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0],
  });
}

/** Calls the handlers for the stream's events while the component is mounted. */
export function useStream(handlers: Handlers): void {
  const onMessage = useEffectEvent((name: keyof Messages, message: never) => {
    handlers[name]?.(message);
  });
  useEffect(() => {
    const listener = (name: keyof Messages, message: never) => onMessage(name, message);
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }, []);
}
