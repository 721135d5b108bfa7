import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '#tools/net';
import type { FaultCase } from '../harness/fault-case.js';
import type { Installation } from '../harness/installation.js';
import { type Arrival, confirm, keyOf } from '../harness/receiver.js';
import { untrusted } from '../harness/untrusted-certificate.js';

const FAULTY_MS = 10_000;
const RATE = 5;
const HUGE = Buffer.alloc(100 << 20, 'x');
const HOLD_S = 4;
/** A hold does not abort calls in flight. */
const UNDER_WAY_MS = 1_500;

type Behaviour = (arrival: Arrival, response: ServerResponse) => void;

/** Sends only the status line and headers of a 2xx, which are enough for a delivery to succeed. */
function confirmHead(arrival: Arrival, response: ServerResponse): void {
  response.writeHead(200).flushHeaders();
  arrival.confirmedAt = Date.now();
}

const BROKEN: Record<string, Behaviour> = {
  '/healthy': confirm,
  '/resets': (_, { socket }) => {
    socket?.write('HTTP/1.1 200 O', () => socket.resetAndDestroy());
  },
  '/hangs-before-headers': () => undefined,
  '/hangs-after-headers': confirmHead,
  '/trickles': (_, { socket }) => {
    const text = 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n';
    let sent = 0;
    const timer = setInterval(() => socket?.write(text.charAt(sent++)), 1_000);
    socket?.on('close', () => clearInterval(timer));
  },
  '/hundred-megabytes': (arrival, response) => {
    confirmHead(arrival, response);
    response.end(HUGE);
  },
  '/garbage': (_, { socket }) => socket?.end('\0\u00ff 200 everything is fine\r\n\r\n'),
  '/refuses': confirm,
  '/wrong-certificate': confirm,
  '/no-such-host': confirm,
};

export const receiversBroken: FaultCase = {
  name: 'receivers-broken',
  about:
    'receivers that refuse connections, reset, hang before or after the headers, trickle, answer ' +
    '100 MB or garbage, have an invalid certificate or no address; later they are repaired',
  rate: RATE,
  producersNotice: 'nothing',
  duplicates: 'none',
  setup: {
    paths: Object.keys(BROKEN),
    target: async (path, receiver) => {
      if (path === '/refuses') return `http://127.0.0.1:${String(await freePort())}${path}`;
      if (path === '/no-such-host') return `http://nowhere.invalid${path}`;
      if (path !== '/wrong-certificate') return receiver.url + path;
      return (await receiver.listen({ tls: untrusted })) + path;
    },
  },
  harm: async (installation) => {
    const { receiver, targets } = installation;
    receiver.answering = (arrival, response) => BROKEN[arrival.path]?.(arrival, response);
    await sleep(FAULTY_MS);
    receiver.answering = confirm;
    await receiver.listen({ port: Number(targets.get('/refuses')?.url.port) });
    await installation.correct('/wrong-certificate');
    await installation.correct('/no-such-host');
  },
};

const REFUSING: Record<string, (response: ServerResponse, installation: Installation) => void> = {
  '/healthy': (response) => response.end(),
  '/moved': (response, { receiver }) => {
    response.writeHead(301, { location: `${receiver.url}/private` }).end();
  },
  '/moved-with-method': (response, { receiver }) => {
    response.writeHead(308, { location: `${receiver.url}/private` }).end();
  },
  '/too-many': (response) => response.writeHead(429, { 'retry-after': String(HOLD_S) }).end(),
  '/too-many-until': (response) => response.writeHead(429, { 'retry-after': inAWhile() }).end(),
  '/unavailable': (response) => response.writeHead(503, { 'retry-after': String(HOLD_S) }).end(),
  '/unavailable-until': (response) => response.writeHead(503, { 'retry-after': inAWhile() }).end(),
  '/gone': (response) => response.writeHead(410).end(),
};

/** A date has no milliseconds, so it is up to a second earlier than {@link HOLD_S}. */
function inAWhile(): string {
  return new Date(Date.now() + HOLD_S * 1_000).toUTCString();
}

export const receiversRefusing: FaultCase = {
  name: 'receivers-refusing',
  about:
    'receivers that answer 301 and 308 to a private address, 429 and 503 with Retry-After in ' +
    'seconds or as a date, and 410',
  rate: RATE,
  producersNotice: 'nothing',
  duplicates: 'none',
  setup: { paths: Object.keys(REFUSING) },
  harm: async (installation) => {
    const { receiver } = installation;
    const holdsUntil = new Map<string, number>();
    receiver.answering = (arrival, response) => {
      const { path, at } = arrival;
      if (path === '/healthy') {
        confirm(arrival, response);
        return;
      }
      const until = holdsUntil.get(path);
      // Marks notifications that arrive during the hold, for the check.
      if (until !== undefined && at > until - HOLD_S * 1_000 + UNDER_WAY_MS && at < until - 1_000) {
        receiver.strays += 1;
      }
      if (/too-many|unavailable/.test(path)) holdsUntil.set(path, at + HOLD_S * 1_000);
      REFUSING[path]?.(response, installation);
    };
    await sleep(FAULTY_MS);
    receiver.answering = confirm;
  },
  check: async ({ receiver, postgres }) => {
    const off = await postgres.query(
      `SELECT FROM webhooks WHERE disabled_reason = 'gone' AND NOT enabled`,
    );
    const followed = receiver.received.filter(({ path }) => path === '/private').length;
    return [
      ...(off.length === 1 ? [] : ['410 did not switch its subscription off']),
      ...(followed + receiver.strays === 0
        ? []
        : ['a redirect was followed, or Retry-After ignored']),
    ];
  },
  // Its answer of 410 means that it wants no more notifications.
  excused: ({ producer }) =>
    Promise.resolve(
      new Set([...producer.accepted.keys()].map((number) => keyOf({ path: '/gone', number }))),
    ),
};
