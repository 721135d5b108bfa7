import { queryOptions, useSuspenseQuery } from '@tanstack/react-query';
import { showToast } from '../components/toast.js';
import { answerOf, api, RefusedError, sentenceOf } from './api.js';
import { queryClient } from './query-client.js';
import { type Session, SESSION_KEY, sessionEnded, type SessionState } from './session-state.js';

export const sessionQuery = queryOptions({
  queryKey: SESSION_KEY,
  queryFn: async (): Promise<SessionState> => {
    const opened = await openLink();
    if (opened) return { user: opened };
    const linkEnded = opened === null;
    try {
      const user = await answerOf(api.GET('/v1/session'));
      if (linkEnded) showToast(LINK_ENDED, 'bad');
      return { user };
    } catch (error) {
      if (!(error instanceof RefusedError) || error.status !== 401) throw error;
      if (linkEnded) return { user: undefined, expired: false, linkEnded };
      return queryClient.getQueryData<SessionState>(SESSION_KEY)?.user === undefined
        ? { user: undefined, expired: false }
        : { user: undefined, expired: true };
    }
  },
  // Every other request notices when the session ends, so there is no need to poll.
  staleTime: Infinity,
  gcTime: Infinity,
});

export const LINK_ENDED = 'The link has been used or has expired.';

/** The token of a link to the console that has not been answered yet. */
let link = takeLink();
// Pasted into the address of the open page, it does not load the page again.
window.addEventListener('hashchange', () => {
  link = takeLink() ?? link;
  if (link !== undefined) void queryClient.query({ ...sessionQuery, staleTime: 0 });
});

/** Takes the token of a link out of the address, which others see and the browser remembers. */
function takeLink(): string | undefined {
  const [, token] = /^#link=(.+)$/.exec(window.location.hash) ?? [];
  if (token === undefined) return undefined;
  const { pathname, search } = window.location;
  window.history.replaceState(window.history.state, '', pathname + search);
  return token;
}

/** Begins the session of the link, if there is one. @returns its user; null if the link has ended */
async function openLink(): Promise<Session | null | undefined> {
  if (link === undefined) return undefined;
  try {
    const user = await answerOf(api.POST('/v1/session', { body: { link } }));
    link = undefined;
    forgetData();
    otherTabs.postMessage('begun');
    return user;
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    link = undefined;
    if (error.status !== 401) throw error;
    return null;
  }
}

/** All tabs share the cookie: a login or logout in one tab changes the user of all. */
const otherTabs = new BroadcastChannel('switchhook.session');
otherTabs.addEventListener('message', () => void checkSession());

/**
 * Whether the session is still valid, belongs to the same user and may do the same; if not, shows the login or what the
 * new session may see and do.
 */
export async function checkSession(): Promise<void> {
  // Without an answer, the session's state is unknown.
  const { data } = await api.GET('/v1/session').catch(() => ({ data: undefined }));
  const shown = queryClient.getQueryData<SessionState>(SESSION_KEY)?.user;
  if (!data || (data.userId === shown?.userId && allows(data) === allows(shown))) return;
  if (data.userId !== shown?.userId) forgetData();
  queryClient.setQueryData<SessionState>(SESSION_KEY, { user: data });
}

/** What a session may do, apart from whose it is. */
function allows({ scope, byLink }: Session): string {
  return byLink ? `${scope} by link` : scope;
}

/** @throws RefusedError with 401 for wrong credentials, with 429 after too many failures */
export async function logIn(username: string, password: string): Promise<void> {
  const { data, error, response } = await api.POST('/v1/session', { body: { username, password } });
  if (!data) throw new LoginError(response, error);
  queryClient.setQueryData<SessionState>(SESSION_KEY, { user: data });
  otherTabs.postMessage('begun');
}

/** A refused login. */
export class LoginError extends RefusedError {
  /** In seconds; with 429. */
  readonly retryAfter: number | undefined;

  constructor(response: Response, problem: unknown) {
    super(response.status, problem as RefusedError['problem']);
    const seconds = Number(response.headers.get('Retry-After') ?? NaN);
    this.retryAfter = Number.isFinite(seconds) ? seconds : undefined;
  }
}

/** Tells the user if the session could not be ended. */
export async function logOut(): Promise<void> {
  try {
    await answerOf(api.DELETE('/v1/session'));
  } catch (error) {
    // A 401 means that it had already ended, and the login is on screen.
    const hadEnded = error instanceof RefusedError && error.status === 401;
    if (!hadEnded) showToast(`You are still logged in. ${sentenceOf(error)}`, 'bad');
    return;
  }
  sessionEnded(false);
  otherTabs.postMessage('ended');
}

/** One user must not see what another has loaded. */
export function forgetData(): void {
  queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
}

/** The logged-in user. Only for components inside the shell. */
export function useUser(): Session {
  const { data } = useSuspenseQuery(sessionQuery);
  if (!data.user) throw new Error('nobody is logged in');
  return data.user;
}

/** Says why a page offers no changes. */
export const READS_ONLY = 'This session may only read.';

/**
 * Whether the session may change what its user may. One that began with a credential or a link of the scope `read` may not,
 * and sees no secret.
 */
export function useMayChange(): boolean {
  return useUser().scope !== 'read';
}
