import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EVERY_ACCOUNT, RateLimitedError, type Scope, UnavailableError } from '#libs/kernel';
import { leastIdAt } from '../../partitions/partition-days.js';
import type { FeedFilter } from './feed.js';
import { FakeFeedHorizon, FakeFeedReader } from './feed.fake.js';
import { FeedService, type FeedStart, type FeedWait } from './feed.service.js';
import { FeedWaiters, MOST_WAITING } from './feed-waiters.js';

let reader: FakeFeedReader;
let horizon: FakeFeedHorizon;
let waiters: FeedWaiters;
let feed: FeedService;
let check: FeedWait['check'];

beforeEach(() => {
  reader = new FakeFeedReader();
  horizon = new FakeFeedHorizon('5');
  waiters = new FeedWaiters(reader, horizon);
  feed = new FeedService(reader, horizon, waiters);
  check = () => Promise.resolve();
});
afterEach(() => waiters.beforeApplicationShutdown());

const waiting = (ms: number, end = new AbortController().signal): FeedWait => ({
  ...{ userId: '1', ms, end, check: () => check() },
  look: (work) => work(),
});

/** What a request gets: the ids of the events, and where to go on. */
async function opened(
  start: FeedStart,
  { scope = '1', filter = {}, wait }: { scope?: Scope; filter?: FeedFilter; wait?: FeedWait } = {},
): Promise<[ids: string[], cursor: string]> {
  const { end, read } = await feed.open(scope, filter, start, wait);
  const { rows, stoppedAt } = await read({ limit: 10 });
  return [rows.map(({ id }) => id), stoppedAt ?? end];
}

describe('without waiting', () => {
  beforeEach(() => {
    for (const id of ['1', '2', '3', '6']) reader.add(id, id === '2' ? '2' : '1');
  });

  it('begins now', async () => {
    expect(await opened({})).toEqual([[], '5']);
  });

  it('returns the events between the cursor and the horizon', async () => {
    expect(await opened({ after: '1' })).toEqual([['3'], '5']);
    expect(await opened({ after: '0' }, { scope: EVERY_ACCOUNT })).toEqual([['1', '2', '3'], '5']);
  });

  it('keeps a cursor that is ahead of the horizon', async () => {
    expect(await opened({ after: '7' })).toEqual([[], '7']);
  });

  it('refuses a cursor that is more than a day ahead of the horizon', async () => {
    horizon.horizon = leastIdAt(Date.UTC(2026, 0, 31));
    const [near, far] = [leastIdAt(Date.UTC(2026, 1, 1)), leastIdAt(Date.UTC(2026, 1, 1) + 1)];
    expect(await opened({ after: near })).toEqual([[], near]);
    await expect(opened({ after: far })).rejects.toMatchObject({
      message: 'The query parameter after must be a cursor, as in the header Switchhook-Cursor.',
      faults: [{ field: 'after', code: 'format' }],
    });
  });

  it('refuses a time that is more than a day ahead of the horizon, whose cursor it would refuse', async () => {
    const now = Date.UTC(2026, 0, 31);
    horizon.horizon = leastIdAt(now);
    const day = 86_400_000;
    await opened({ since: new Date(now + day) });
    await expect(opened({ since: new Date(now + day + 1) })).rejects.toMatchObject({
      message: 'The query parameter since must be at most a day in the future.',
      faults: [{ field: 'since', code: 'range' }],
    });
  });

  it('begins at a time, or with the oldest event that is kept', async () => {
    expect(await opened({ since: new Date(2) })).toEqual([['3'], '5']);
    reader.kept = '4';
    expect(await opened({ since: new Date(2) })).toEqual([[], '5']);
  });

  it('refuses a cursor behind which events are no longer kept, and names one that works', async () => {
    reader.kept = '2';
    await expect(opened({ after: '1' })).rejects.toMatchObject({
      ...{ kind: 'gone', code: 'cursor_expired', members: { oldest: '2' } },
    });
    expect(await opened({ after: '2' })).toEqual([['3'], '5']);
  });
});

describe('waiting', () => {
  it('answers as soon as there is an event, with a look for all that wait', async () => {
    const answers = ['1', '1', '2'].map((scope) =>
      opened({ after: '4' }, { scope, wait: waiting(5_000) }),
    );
    await sleep(300);
    reader.add('6', '1');
    reader.add('7', '2');
    horizon.horizon = '8';
    expect(await Promise.all(answers)).toEqual([
      [['6'], '8'],
      [['6'], '8'],
      [['7'], '8'],
    ]);
    expect(reader.looks).toBeLessThan(5);
  });

  it('answers at once if there is an event already', async () => {
    reader.add('4', '1');
    expect(await opened({ after: '3' }, { wait: waiting(5_000) })).toEqual([['4'], '5']);
    expect(reader.looks).toBe(0);
  });

  it('searches on behind what did not match, and answers with how far it came', async () => {
    for (const id of ['1', '2', '3']) reader.add(id, '1', 'cdrRated');
    reader.searched = 1;
    const filter = { event: 'smsdlr' };
    const answer = opened({ after: '0' }, { filter, wait: waiting(700) });
    await sleep(300);
    reader.add('6', '1', 'cdrRated');
    horizon.horizon = '7';
    expect(await answer).toEqual([[], '7']);
  });

  it('ends without an event after the time, when the client leaves and when the process stops', async () => {
    expect(await opened({ after: '1' }, { wait: waiting(50) })).toEqual([[], '5']);
    const client = new AbortController();
    check = () => {
      client.signal.throwIfAborted();
      return Promise.resolve();
    };
    const left = opened({ after: '1' }, { wait: waiting(5_000, client.signal) });
    setTimeout(() => client.abort(new Error('left')), 50);
    await expect(left).rejects.toThrow('left');
    check = () => Promise.resolve();
    const stopped = opened({ after: '1' }, { wait: waiting(5_000) });
    await sleep(50);
    await waiters.beforeApplicationShutdown();
    expect(await stopped).toEqual([[], '5']);
    expect(await opened({ after: '1' }, { wait: waiting(5_000) })).toEqual([[], '5']);
  });

  it('checks the request about once a second', async () => {
    let checks = 0;
    check = () => ((checks += 1) > 1 ? Promise.reject(new Error('revoked')) : Promise.resolve());
    const begin = performance.now();
    await expect(opened({ after: '1' }, { wait: waiting(30_000) })).rejects.toThrow('revoked');
    expect(performance.now() - begin).toBeLessThan(3_000);
  });

  it('refuses further requests of a user, and forgets those that have ended', async () => {
    const end = new AbortController();
    setMaxListeners(0, end.signal);
    check = () => {
      end.signal.throwIfAborted();
      return Promise.resolve();
    };
    const most = Array.from({ length: MOST_WAITING }, () =>
      opened({ after: '1' }, { wait: waiting(5_000, end.signal) }),
    );
    await sleep(50);
    await expect(opened({ after: '1' }, { wait: waiting(5_000) })).rejects.toThrow(
      RateLimitedError,
    );
    const other = { ...waiting(50), userId: '2' };
    expect(await opened({ after: '1' }, { wait: other })).toEqual([[], '5']);
    end.abort(new Error('left'));
    const ended = await Promise.allSettled(most);
    expect(ended.every(({ status }) => status === 'rejected')).toBe(true);
    check = () => Promise.resolve();
    expect(await opened({ after: '1' }, { wait: waiting(50) })).toEqual([[], '5']);
  });

  it('tells all that wait when PostgreSQL is away, and looks again for the next', async () => {
    reader.failure = new UnavailableError();
    const answer = opened({ after: '1' }, { wait: waiting(5_000) });
    await expect(answer).rejects.toThrow(UnavailableError);
    reader.failure = undefined;
    const next = opened({ after: '4' }, { wait: waiting(5_000) });
    await sleep(50);
    reader.add('6', '1');
    horizon.horizon = '8';
    expect(await next).toEqual([['6'], '8']);
  });

  it('looks for nothing while nobody waits', async () => {
    await opened({ after: '1' }, { wait: waiting(20) });
    await sleep(300);
    const { looks } = reader;
    const asked = vi.spyOn(horizon, 'current');
    await sleep(300);
    expect([reader.looks, asked.mock.calls]).toEqual([looks, []]);
  });
});
