import type { Schemas } from '#libs/client';
import { queryClient } from './query-client.js';

/** Who is logged in. */
export type Session = Schemas['Session'];

/** Whether somebody is logged in; `expired`: somebody was. */
export type SessionState = { user: Session } | { user: undefined; expired: boolean };

export const SESSION_KEY = ['session'];

/** Leads to the login, which shows the same page again afterwards. */
export function sessionEnded(expired = true): void {
  const before = queryClient.getQueryData<SessionState>(SESSION_KEY);
  const wasIn = before?.user !== undefined;
  if (before && !wasIn) return;
  const next: SessionState = { user: undefined, expired: expired && wasIn };
  queryClient.setQueryData(SESSION_KEY, next);
}
