import { type Answer, answerOf, createClient, RefusedError } from '#libs/client';
import { API_URL } from './addresses.js';
import { isAttended } from './attention.js';
import { areAllShown, inWords } from './faults.js';
import { sessionEnded } from './session-state.js';

export { answerOf, RefusedError };
export type { Schemas } from '#libs/client';

/**
 * The typed client of the API, in the name of the session. A 401 leads to the login. What a page reads again by
 * itself does not extend the session.
 */
export const api = createClient({
  baseUrl: API_URL,
  fetch: async (request) => {
    if (!isAttended()) request.headers.set('X-Unattended', 'true');
    // Filters in the address may be mistyped: the API says so.
    request.headers.set('Prefer', 'handling=strict');
    const response = await fetch(request);
    const isLogin = request.method === 'POST' && request.url.endsWith('/v1/session');
    if (response.status === 401 && !isLogin) sessionEnded();
    return response;
  },
});

/**
 * The JSON text of an answer, in which large numbers keep all their digits: ask for it with `parseAs: 'text'`.
 * @throws RefusedError
 */
export function rawAnswerOf(call: Promise<Answer<unknown>>): Promise<string> {
  return answerOf(call) as Promise<string>;
}

const CHANGED = 'It has been changed meanwhile. Look at it again before you go on.';

/** A sentence for people about anything that went wrong. */
export function sentenceOf(error: unknown): string {
  if (error instanceof RefusedError) return error.status === 412 ? CHANGED : error.message;
  if (error instanceof TypeError) return 'The server did not answer. Check your connection.';
  return 'Something went wrong in this page. Reload it.';
}

/**
 * What is wrong with each field, by its name; empty if the error is not about fields.
 * @param labels what the inputs are called: see {@link inWords}
 */
export function faultsOf(
  error: unknown,
  labels: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const faults = error instanceof RefusedError ? (error.problem?.errors ?? []) : [];
  return inWords(Object.fromEntries(faults.map(({ field, message }) => [field, message])), labels);
}

/** What is wrong with a form and cannot be said beside one of its inputs; undefined if all can. */
export function otherProblem(error: unknown, names: readonly string[]): string | undefined {
  if (!error || areAllShown(faultsOf(error), names)) return undefined;
  return sentenceOf(error);
}
