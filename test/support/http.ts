import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { type ApiDocument, type DescribableAnswer, DescribedApi } from './described-api.js';

/** The body of a request. Other values than strings and bytes are sent as JSON with their Content-Type. */
export interface Call {
  /** `username:password` */
  auth?: string;
  headers?: Record<string, string | string[]>;
  body?: unknown;
  agent?: Agent;
}

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  text: string;
  /** The body as JSON; throws if it is not JSON. The caller knows the type. */
  // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows it
  json: <Body = Record<string, unknown>>() => Body;
}

/**
 * Sends one request, on its own connection unless an agent is given. An answer of our API that differs from
 * `/openapi.json` is an error.
 */
export async function send(method: string, url: string, call: Call = {}): Promise<Answer> {
  const answer = await request(method, url, call);
  await checkDescribed(method, url, answer);
  return answer;
}

/** @throws Error if an answer of our API differs from `/openapi.json` */
export async function checkDescribed(
  method: string,
  url: string,
  answer: DescribableAnswer,
): Promise<void> {
  // Only our servers send this header; other servers' answers are not checked.
  if (answer.headers['x-request-id'] === undefined) return;
  const { origin, pathname } = new URL(url);
  // Pages for people, and redirects to them, are not part of the API.
  if (pathname === '/' && answer.status === 302) return;
  if (/^\/(console|docs)(\/|$)/.test(pathname)) return;
  const api = await describedApiAt(origin);
  const faults = api?.faultsOf(method, pathname, answer) ?? [];
  if (faults.length === 0) return;
  throw new Error(`${method} ${pathname} is not as described: ${faults.join('; ')}`);
}

const origins = new Map<string, DescribedApi | undefined>();
const described = new Map<string, DescribedApi>();

/** The API at an origin; undefined if there is none, as on the worker's port. */
async function describedApiAt(origin: string): Promise<DescribedApi | undefined> {
  if (origins.has(origin)) return origins.get(origin);
  const answer = await request('GET', `${origin}/openapi.json`, {}).catch(() => undefined);
  // The process may have ended, and another one may listen there later.
  if (!answer) return undefined;
  const { status, text } = answer;
  const isThere = status === 200;
  if (isThere && !described.has(text)) {
    described.set(text, new DescribedApi(JSON.parse(text) as ApiDocument));
  }
  const api = isThere ? described.get(text) : undefined;
  origins.set(origin, api);
  return api;
}

/** Like {@link send}, without checking the answer. */
export function request(method: string, url: string, call: Call): Promise<Answer> {
  const { auth, headers = {}, body, agent = new Agent({ keepAlive: false }) } = call;
  const isRaw = typeof body === 'string' || body instanceof Uint8Array;
  const bytes = isRaw || body === undefined ? body : JSON.stringify(body);
  const all: Record<string, string | string[]> = {
    ...(auth !== undefined && { authorization: basic(auth) }),
    ...(bytes !== undefined && {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(bytes)),
    }),
    ...headers,
  };
  return new Promise((resolve, reject) => {
    const request = httpRequest(url, { method, headers: all, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString('utf8');
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          text,
          // eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- the caller knows it
          json: <Body>() => JSON.parse(text) as Body,
        });
      });
    });
    request.on('error', reject);
    request.end(bytes);
  });
}

/** The value of an `Authorization` header for `username:password`. */
export function basic(pair: string): string {
  return `Basic ${Buffer.from(pair, 'utf8').toString('base64')}`;
}

/** A client of one server, as one user. */
export function clientOf(base: string, auth?: string) {
  const as = (call: Call): Call => ({ ...(auth !== undefined && { auth }), ...call });
  return {
    get: (path: string, call: Call = {}) => send('GET', base + path, as(call)),
    head: (path: string, call: Call = {}) => send('HEAD', base + path, as(call)),
    delete: (path: string, call: Call = {}) => send('DELETE', base + path, as(call)),
    post: (path: string, body?: unknown, call: Call = {}) =>
      send('POST', base + path, as({ ...call, body })),
    put: (path: string, body?: unknown, call: Call = {}) =>
      send('PUT', base + path, as({ ...call, body })),
  };
}

export type Client = ReturnType<typeof clientOf>;
