import type { Schemas } from '#libs/client';
import { queryClient } from './query-client.js';

/** The logged-in user. */
export type Session = Schemas['Session'];

/** Whether users of a role operate the service. */
export function isOperator(role: Session['role']): boolean {
  return role === 'platform' || role === 'operator';
}

/** Whether a user is logged in; `expired`: a user was; `linkEnded`: a link to the console did not work. */
export type SessionState =
  { user: Session } | { user: undefined; expired: boolean; linkEnded?: boolean };

export const SESSION_KEY = ['session'];

/** Shows the login, then the same page again. */
export function sessionEnded(expired = true): void {
  const before = queryClient.getQueryData<SessionState>(SESSION_KEY);
  const wasIn = before?.user !== undefined;
  if (before && !wasIn) return;
  const next: SessionState = { user: undefined, expired: expired && wasIn };
  queryClient.setQueryData(SESSION_KEY, next);
}
