import { useEffect, useEffectEvent } from 'react';
import type { Schemas } from '#libs/client';
import { API_URL } from './addresses.js';
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

/** `interrupted`: the page misses updates until it is `live` again. */
export type StreamState = 'connecting' | 'live' | 'interrupted';

const NAMES = ['delivery', 'attempt', 'webhook'] as const;
/** The browser reconnects automatically unless the answer was an error. */
const AGAIN_MS = 5_000;
/** An account has at most five streams, and browsers limit connections, so hidden pages close theirs. */
const HIDDEN_MS = 60_000;

export const streamState = new Store<StreamState>('connecting');

const listeners = new Set<(name: keyof Messages, message: never) => void>();

/** Follows the account's activity. @returns a function that stops */
export function openStream(): () => void {
  let source: EventSource | undefined;
  let timer: number | undefined;
  // The data on screen may predate the stream.
  let hasMissed = true;

  function open(): void {
    window.clearTimeout(timer);
    source?.close();
    source = new EventSource(`${API_URL}/v1/stream`);
    source.addEventListener('open', () => {
      streamState.set('live');
      if (hasMissed) readAgain();
      hasMissed = false;
    });
    source.addEventListener('interrupted', readAgain);
    source.addEventListener('error', () => {
      streamState.set('interrupted');
      // The browser hides the answer's status, which may have been 401.
      void checkSession();
      if (source?.readyState !== EventSource.CLOSED) return;
      hasMissed = true;
      timer = window.setTimeout(open, AGAIN_MS);
    });
    for (const name of NAMES) {
      source.addEventListener(name, ({ data }: MessageEvent<string>) => {
        const message = JSON.parse(data) as never;
        for (const listener of listeners) listener(name, message);
      });
    }
  }

  function close(): void {
    window.clearTimeout(timer);
    source?.close();
    source = undefined;
    hasMissed = true;
    streamState.set('interrupted');
  }

  function follow(): void {
    window.clearTimeout(timer);
    if (document.hidden) timer = window.setTimeout(close, HIDDEN_MS);
    else if (!source || source.readyState === EventSource.CLOSED) open();
  }

  open();
  document.addEventListener('visibilitychange', follow);
  return () => {
    document.removeEventListener('visibilitychange', follow);
    close();
    streamState.set('connecting');
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
