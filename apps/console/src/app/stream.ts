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

/** What the page that receives the stream tells the others. */
type Told =
  | { kind: 'joined' | 'missed' | 'reopened' }
  | { kind: 'state'; state: StreamState; place: string | undefined }
  | { kind: 'message'; name: keyof Messages; message: never; place: string | undefined };

const NAMES: readonly string[] = ['delivery', 'attempt', 'webhook'];
/** A stream that ends, as when a process is replaced, is opened again at once. */
const RECONNECT_MS = 1_000;
/** After a failure. */
const AGAIN_MS = 5_000;
/** A browser whose pages are hidden needs no stream, of which an account has at most five. */
const HIDDEN_MS = 60_000;

const CONNECTING: StreamState = { name: 'connecting' };
const LIVE: StreamState = { name: 'live' };
const INTERRUPTED: StreamState = { name: 'interrupted' };

export const streamState = new Store<StreamState>(CONNECTING);

/** How often the stream was opened after it had been lost. */
export const reopenings = new Store(0);

const listeners = new Set<(name: keyof Messages, message: never) => void>();

/**
 * Follows the account's activity. The pages of a browser share one stream: a page that is seen receives it, and tells the
 * others; when it goes, the next one resumes.
 * @returns a function that stops
 */
export function openStream(userId: number): () => void {
  const name = `switchhook.stream.${userId}`;
  // Locks are for HTTPS and localhost only; elsewhere, each page has its own stream.
  const channel = 'locks' in navigator ? new BroadcastChannel(name) : undefined;
  let membership: AbortController | undefined;
  let isReceiving = false;
  let timer: number | undefined;
  /** The last event, from which the API resumes. */
  let place: string | undefined;

  function tell(told: Told): void {
    hear(told);
    channel?.postMessage(told);
  }

  function hear(told: Told): void {
    if ('place' in told) place = told.place ?? place;
    if (told.kind === 'state') streamState.set(told.state);
    else if (told.kind === 'missed') readAgain();
    else if (told.kind === 'reopened') reopenings.set(reopenings.get() + 1);
    else if (told.kind === 'message') for (const one of listeners) one(told.name, told.message);
    else if (isReceiving) channel?.postMessage({ kind: 'state', state: streamState.get(), place });
  }

  /** Receives the stream until the page is hidden or closed. */
  async function receiveAll(signal: AbortSignal): Promise<void> {
    let heardAt = new Date();
    let wasLost = false;
    // The data on screen may predate the stream.
    let hasMissed = place === undefined;

    function onEvent({ id, event, data }: EventSourceMessage): void {
      place = id ?? place;
      if (event === 'open') onOpen();
      else if (event === 'interrupted') tell({ kind: 'missed' });
      else if (event !== undefined && NAMES.includes(event)) {
        const message = JSON.parse(data) as never;
        tell({ kind: 'message', name: event as keyof Messages, message, place });
      }
    }

    function onOpen(): void {
      tell({ kind: 'state', state: LIVE, place });
      if (hasMissed) tell({ kind: 'missed' });
      if (wasLost) tell({ kind: 'reopened' });
      hasMissed = wasLost = false;
    }

    // Not an EventSource, which hides the comments that are the signs of life, and why it was refused.
    async function receive(): Promise<void> {
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

    isReceiving = true;
    for (;;) {
      const error = await receive().catch((reason: unknown) => reason);
      if (signal.aborted) return;
      wasLost = true;
      // It ends with the session, too.
      void checkSession();
      const hadOpened = streamState.get().name === 'live' && !(error instanceof SilenceError);
      if (!hadOpened) hasMissed = true;
      const state = hadOpened ? CONNECTING : stateAfter(error, heardAt);
      tell({ kind: 'state', state, place });
      await pause(hadOpened ? RECONNECT_MS : AGAIN_MS, signal);
    }
  }

  function join(): void {
    const { signal } = (membership = new AbortController());
    if (!channel) return void receiveAll(signal);
    channel.postMessage({ kind: 'joined' });
    const ended = navigator.locks.request(name, { signal }, () => receiveAll(signal));
    // The page left while it waited.
    ended.catch(() => undefined);
  }

  function leave(): void {
    window.clearTimeout(timer);
    membership?.abort();
    membership = undefined;
    if (!isReceiving) return;
    isReceiving = false;
    tell({ kind: 'state', state: CONNECTING, place });
    // Reading again costs less than everything that happens until the page is seen again.
    place = undefined;
  }

  function onVisibility(): void {
    window.clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(leave, HIDDEN_MS);
    else if (!membership) join();
  }

  channel?.addEventListener('message', ({ data }: MessageEvent<Told>) => hear(data));
  join();
  document.addEventListener('visibilitychange', onVisibility);
  return () => {
    document.removeEventListener('visibilitychange', onVisibility);
    leave();
    channel?.close();
    streamState.set(CONNECTING);
  };
}

function stateAfter(error: unknown, heardAt: Date): StreamState {
  if (error instanceof RefusedError && ![502, 504].includes(error.status)) return INTERRUPTED;
  return { name: 'unreachable', since: heardAt.toISOString() };
}

/** Resolves after a while, or when it is aborted. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = window.setTimeout(resolve, ms);
    signal.addEventListener('abort', () => {
      window.clearTimeout(timer);
      resolve();
    });
  });
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
