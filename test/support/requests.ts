import { fileURLToPath } from 'node:url';
import { basic } from './http.js';
import { lowPriority } from './hostility.js';
import { programs } from './processes.js';

const REQUESTS = fileURLToPath(new URL('requests.mjs', import.meta.url));

export interface Request {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** What to send: the requests in turns, that often and with this pause. */
export interface Requests {
  url: string;
  requests: readonly Request[];
  times: number;
  everyMs: number;
}

/** An answer, and the first part of its body. */
export interface Answered {
  status: number;
  bytes: number;
  text: string;
}

/** @param auth `username:password` */
export function requestOf(
  auth: string,
  method: string,
  path: string,
  { body, headers = {} }: { body?: object | string; headers?: Record<string, string> } = {},
): Request {
  const text = typeof body === 'object' ? JSON.stringify(body) : body;
  return {
    ...{ method, path },
    headers: {
      authorization: basic(auth),
      ...(text !== undefined && {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(text)),
      }),
      ...headers,
    },
    ...(text !== undefined && { body: text }),
  };
}

/** Sends requests from a separate process, while an action is repeated. @throws Error if one gets no answer */
export async function whileSent(sent: Requests, work: () => Promise<unknown>): Promise<Answered[]> {
  const sending = programs.start('requests', process.execPath, [REQUESTS], {
    input: JSON.stringify(sent),
  });
  lowPriority(sending);
  while (sending.ending === undefined) await work();
  if (sending.ending !== 'exited with code 0') throw new Error(sending.output());
  return JSON.parse(sending.output()) as Answered[];
}
