import { Store, useStore } from '../../app/store.js';

interface Started {
  /** The user who started it: other users of this tab do not see it. */
  userId: number;
  id: string;
}

/** The API does not list replays, so the tab remembers its own, even after a reload. */
const KEY = 'switchhook.replays';

const started = new Store<readonly Started[]>(
  JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Started[],
);

function keep(next: readonly Started[]): void {
  started.set(next);
  sessionStorage.setItem(KEY, JSON.stringify(next));
}

/** Remembers a replay until it is dismissed. */
export const remember = (replay: Started): void =>
  keep([...started.get().filter(({ id }) => id !== replay.id), replay]);

export const dismiss = (id: string): void => keep(started.get().filter((one) => one.id !== id));

/** The ids of the replays that a user started in this tab, oldest first. */
export function useStartedReplays(userId: number): string[] {
  return useStore(started).flatMap((one) => (one.userId === userId ? [one.id] : []));
}
