import { type Answer, answerOf, createClient, RefusedError } from '#libs/client';
import { API_URL } from './addresses.js';
import { isAttended } from './attention.js';
import { areAllShown, inWords } from './faults.js';
import { fetchInTime, SilenceError } from './fetch-in-time.js';
import { sessionEnded } from './session-state.js';

export { answerOf, RefusedError };
export type { Schemas } from '#libs/client';

/**
 * The typed client of the API. It uses the session's cookie, and a 401 shows the login. Background requests do not
 * extend the session. A request without an answer fails in time.
 */
export const api = createClient({
  baseUrl: API_URL,
  fetch: async (request) => {
    if (!isAttended()) request.headers.set('X-Unattended', 'true');
    // Filters in the address may be mistyped: the API reports the fault.
    request.headers.set('Prefer', 'handling=strict');
    const response = await fetchInTime(request);
    const isLogin = request.method === 'POST' && request.url.endsWith('/v1/session');
    if (response.status === 401 && !isLogin) sessionEnded();
    return response;
  },
});

/**
 * An answer as JSON text, so that large numbers keep all their digits: call with `parseAs: 'text'`. @throws
 * RefusedError
 */
export function rawAnswerOf(call: Promise<Answer<unknown>>): Promise<string> {
  return answerOf(call) as Promise<string>;
}

const NO_ANSWER = 'The server did not answer. Check your connection.';
const CHANGED = 'It has changed in the meantime. Check it before you go on.';

/** Describes an error in one sentence for the user. */
export function sentenceOf(error: unknown): string {
  if (error instanceof RefusedError) return error.status === 412 ? CHANGED : error.message;
  if (error instanceof TypeError || error instanceof SilenceError) return NO_ANSWER;
  return 'Something went wrong in this page. Reload it.';
}

/**
 * The fault of each field, by the field's name; empty if the error is not about fields.
 * @param labels of the inputs: see {@link inWords}
 */
export function faultsOf(
  error: unknown,
  labels: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const faults = error instanceof RefusedError ? (error.problem?.errors ?? []) : [];
  return inWords(Object.fromEntries(faults.map(({ field, message }) => [field, message])), labels);
}

/** The fault of a form that no input can show; undefined if the inputs show all faults. */
export function otherProblem(error: unknown, names: readonly string[]): string | undefined {
  if (!error || areAllShown(faultsOf(error), names)) return undefined;
  return sentenceOf(error);
}
