import type { Schemas } from './client.js';

/** What a call resolves to. */
export type Answer<Body> =
  | { data: Body; error?: never; response: Response }
  | { data?: never; error: unknown; response: Response };

/** A request was answered with an error. */
export class RefusedError extends Error {
  override readonly name = 'RefusedError';

  constructor(
    readonly status: number,
    /** Absent when the answer is not one of the API: a proxy between may have its own. */
    readonly problem: Schemas['Problem'] | undefined,
  ) {
    super(problem?.error ?? `The answer is ${status}.`);
  }
}

/**
 * The body that a call is answered with.
 * @throws RefusedError when it is answered with an error
 */
export async function answerOf<Body>(
  call: Promise<Answer<Body>>,
  // Without `exactOptionalPropertyTypes`, the compiler adds undefined.
): Promise<Exclude<Body, undefined>> {
  const { data, error, response } = await call;
  if (!response.ok) throw new RefusedError(response.status, isProblem(error) ? error : undefined);
  return data as Exclude<Body, undefined>;
}

function isProblem(error: unknown): error is Schemas['Problem'] {
  return typeof error === 'object' && error !== null && 'code' in error;
}

/**
 * The elements of a list, read page by page. The function asks for a page, with what it is given
 * as a part of the query: `(page) => client.GET('/v1/events', { params: { query: page } })`.
 * @throws RefusedError
 */
export async function* everyOf<Element>(
  read: (page: { after?: string }) => Promise<Answer<Element[]>>,
): AsyncGenerator<Element> {
  let page: { after?: string } | undefined = {};
  while (page) {
    const call = read(page);
    yield* await answerOf(call);
    page = nextPageOf((await call).response);
  }
}

/** The part of the query that asks for the page after this answer; undefined after the last one. */
export function nextPageOf({ headers }: Response): { after: string } | undefined {
  const [, address] = /<([^>]*)>; *rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  const after = address === undefined ? null : new URL(address).searchParams.get('after');
  return after === null ? undefined : { after };
}

/** The id of a created or changed resource, from the last segment of its address. */
export function idOf({ href }: Schemas['Address']): string {
  return href.slice(href.lastIndexOf('/') + 1);
}
