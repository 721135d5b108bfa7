import { useEffect } from 'react';
import { useLocation } from 'wouter';
import { showToast } from '../components/toast.js';
import { queryClient } from './query-client.js';
import { useUser } from './session.js';
import { SESSION_KEY, type SessionState } from './session-state.js';
import { Store, useStore } from './store.js';

/**
 * Unsaved input, by user, page and form. A draft outlives its form: the form shows it again when the same user returns.
 * Drafts stay in memory because they may hold secrets.
 */
const drafts = new Store<ReadonlyMap<string, unknown>>(new Map());

const keyOf = (userId: number | string, path: string, name: string) =>
  [userId, path, name].join(' ');

window.addEventListener('beforeunload', (event) => {
  if (drafts.get().size > 0) event.preventDefault();
});

function keepOnly(isKept: (key: string) => boolean): void {
  const kept = [...drafts.get()].filter(([key]) => isKept(key));
  if (kept.length < drafts.get().size) drafts.set(new Map(kept));
}

/** A login as another user drops the previous user's drafts. */
export function forgetDraftsOfOthers(userId: number | string): void {
  keepOnly((key) => key.startsWith(`${userId} `));
}

/** For a page whose resource was deleted. */
export function forgetDraftsAt(path: string): void {
  keepOnly((key) => key.split(' ')[1] !== path);
}

/** The draft of a form on this page. Call `keep(undefined)` once it is saved or discarded. */
export function useDraft<Draft>(name: string) {
  const { userId } = useUser();
  const [path] = useLocation();
  const key = keyOf(userId, path, name);
  const latest = () => drafts.get().get(key) as Draft | undefined;
  useStore(drafts);
  useEffect(() => () => sayIfKept(key), [key]);
  return {
    draft: latest(),
    /** Reads the current draft, for callbacks created earlier. */
    latest,
    keep: (draft: Draft | undefined) => {
      const next = new Map(drafts.get());
      if (draft === undefined) next.delete(key);
      else next.set(key, draft);
      drafts.set(next);
    },
  };
}

/** Whether a form on this page has a draft. */
export function useHasDraft(name: string): boolean {
  const { userId } = useUser();
  const [path] = useLocation();
  return useStore(drafts).has(keyOf(userId, path, name));
}

function sayIfKept(key: string): void {
  // After the session ends, the login returns to the form.
  const isLoggedIn = queryClient.getQueryData<SessionState>(SESSION_KEY)?.user !== undefined;
  if (isLoggedIn && drafts.get().has(key)) {
    showToast(
      'Your changes are not saved. This browser tab keeps them until you return.',
      'waiting',
    );
  }
}
