import { randomBytes } from 'node:crypto';
import { Agent } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { type DemoAccount, startDemoAccount } from '../support/demo-account.js';
import { clientOf } from '../support/http.js';
import { startApi } from '../support/processes.js';

/** Other activity of the machine only adds to a time, so the best of several rounds counts. */
const MOST_ROUNDS = 6;
const ROUND_MS = 2_000;
const CALLS_A_SECOND = 100;
const WRONG_LOGINS_A_SECOND = 200;

let demo: DemoAccount;

beforeAll(async () => {
  demo = await startDemoAccount({ TRUSTED_PROXIES: '127.0.0.1/32' }, startApi);
});
afterAll(() => demo.stop());

/** Starts this many calls a second on their own connections, however long they take. */
async function eachSecond(rate: number, call: (agent: Agent) => Promise<void>): Promise<void> {
  const agent = new Agent({ keepAlive: true });
  const calls: Promise<void>[] = [];
  const start = performance.now();
  for (let number = 0; number < (rate * ROUND_MS) / 1_000; number += 1) {
    const wait = start + (number * 1_000) / rate - performance.now();
    if (wait > 0) await delay(wait);
    calls.push(call(agent));
  }
  await Promise.all(calls);
  agent.destroy();
}

/** @returns how long each call of a logged-in user took, in ms */
async function calls(): Promise<number[]> {
  const took: number[] = [];
  await eachSecond(CALLS_A_SECOND, async (agent) => {
    const start = performance.now();
    const { status } = await demo.client.get('/v1/applications?limit=1', { agent });
    took.push(performance.now() - start);
    expect(status).toBe(200);
  });
  return took;
}

/** Each login has another username, and the addresses alternate. */
async function wrongLogins(answers: Map<number, number>, addresses: string[]): Promise<void> {
  const anyone = clientOf(demo.api.url);
  let next = 0;
  await eachSecond(WRONG_LOGINS_A_SECOND, async (agent) => {
    const auth = `u${randomBytes(8).toString('hex')}:wrong`;
    const from = { 'x-forwarded-for': addresses[(next += 1) % addresses.length]! };
    const { status, headers } = await anyone.get('/v1/applications', {
      auth,
      agent,
      headers: from,
    });
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status === 503) expect(headers['retry-after']).toBe('1');
  });
}

const addressesOf = (network: string) => Array.from({ length: 4 }, (_, n) => `${network}.${n + 1}`);

const p99 = (all: number[]) => all.sort((a, b) => a - b)[Math.floor(all.length * 0.99)]!;

it('200 wrong logins a second do not slow down logged-in users, and all are answered', async () => {
  let [before, during] = [Infinity, Infinity];
  const answers = new Map<number, number>();
  await calls();
  // The goal is three times; a busy machine needs more.
  const isSlow = () => !(during < 8 * before);
  for (let round = 0; round < MOST_ROUNDS && isSlow(); round += 1) {
    before = Math.min(before, p99(await calls()));
    const [took] = await Promise.all([
      calls(),
      wrongLogins(answers, addressesOf(`198.51.${round}`)),
    ]);
    during = Math.min(during, p99(took));
  }
  console.log(`p99 ${before.toFixed(1)} ms, during the flood ${during.toFixed(1)} ms`, answers);
  expect([...answers.keys()].filter((status) => ![401, 429, 503].includes(status))).toEqual([]);
  expect(isSlow()).toBe(false);
});

it("200 wrong logins a second from four addresses do not delay other users' first logins", async () => {
  const answers = new Map<number, number>();
  const users = await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      createUser(demo.database, `newcomer-${n}-${randomBytes(4).toString('hex')}`),
    ),
  );
  const flood = wrongLogins(answers, addressesOf('203.0.113'));
  const anyone = clientOf(demo.api.url);
  const took: number[] = [];
  for (const [index, { auth }] of users.entries()) {
    const start = performance.now();
    const headers = { 'x-forwarded-for': `192.0.2.${index + 1}` };
    const { status } = await anyone.get('/v1/applications', { auth, headers });
    took.push(performance.now() - start);
    expect(status).toBe(200);
  }
  await flood;
  console.log(`first logins during the flood: at most ${Math.max(...took).toFixed(0)} ms`, answers);
  // Five password checks; behind the flood it would be a hundred or more. A busy machine is
  // slower.
  expect(Math.max(...took)).toBeLessThan(1_500);
});
