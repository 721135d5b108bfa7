import { beforeEach, describe, expect, it } from 'vitest';
import { NotFoundError, RateLimitedError, ValidationError } from '#libs/kernel';
import { aContent, webhooksOnFakes } from '../../subscriptions/domain/webhooks.fake.js';
import { SubscriptionInactiveError } from '../../deliveries/domain/deliveries.service.js';
import { MAX_RUNNING, ReplayFinishedError, ReplayLimitError, STARTED } from './replay.js';
import { FakeReplayStore } from './replay-store.fake.js';
import { ReplaysService } from './replays.service.js';

const ACCOUNT = '1';
const UNKNOWN = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
const range = { since: new Date(Date.now() - 60_000), states: ['exhausted'] } as const;

let fakes: ReturnType<typeof webhooksOnFakes>;
let store: FakeReplayStore;
let replays: ReplaysService;
let webhookId: string;

beforeEach(async () => {
  fakes = webhooksOnFakes();
  store = new FakeReplayStore();
  const { webhooks, transactions, audit } = fakes;
  replays = new ReplaysService(store, webhooks, transactions, audit);
  webhookId = await webhooks.create({ accountId: ACCOUNT }, aContent());
  store.owners.set(webhookId, ACCOUNT);
});

const start = () => replays.start(ACCOUNT, { webhookId, ...range });
/** What was recorded of replays. */
const recorded = () => fakes.audit.entries.filter(({ action }) => action.startsWith('replay.'));

describe('a new replay', () => {
  it('runs with the deliveries that were counted, and is recorded', async () => {
    store.deliveries.push({ webhookId, state: 'exhausted', createdAt: new Date() });
    expect((await replays.count(ACCOUNT, { webhookId, ...range })).deliveries).toBe(1);
    const id = await start();
    expect(await replays.show(ACCOUNT, id)).toMatchObject({ state: 'running', total: 1 });
    expect(recorded()).toEqual([{ action: 'replay.create', resourceId: id, accountId: ACCOUNT }]);
  });

  it("is neither counted nor started for another account's subscription", async () => {
    const filter = { webhookId, ...range };
    await expect(replays.count('2', filter)).rejects.toThrow(NotFoundError);
    await expect(replays.start('2', filter)).rejects.toThrow(NotFoundError);
  });

  it('is neither counted nor started while the subscription is off', async () => {
    const key = { accountId: ACCOUNT, id: webhookId };
    await fakes.webhooks.update(key, { enabled: false }, () => undefined);
    const inactive = SubscriptionInactiveError;
    await expect(replays.count(ACCOUNT, { webhookId, ...range })).rejects.toThrow(inactive);
    await expect(start()).rejects.toThrow(inactive);
    expect(store.all).toEqual([]);
  });

  it('is refused while the limit of running ones is reached', async () => {
    for (let started = 0; started < MAX_RUNNING; started += 1) await start();
    await expect(start()).rejects.toThrow(ReplayLimitError);
    expect(recorded()).toHaveLength(MAX_RUNNING);
  });

  it('is refused after too many in an hour, even if none runs', async () => {
    for (let started = 0; started < STARTED.times; started += 1) {
      await replays.cancel(ACCOUNT, await start());
    }
    await expect(start()).rejects.toThrow(RateLimitedError);
    for (const replay of store.all) {
      replay.createdAt = new Date(Date.now() - STARTED.withinMs - 1);
    }
    await start();
  });
});

describe('a new replay of an account', () => {
  const all = () => replays.start(ACCOUNT, range, true);

  it('runs with the deliveries of all its subscriptions, and is recorded', async () => {
    const other = await fakes.webhooks.create({ accountId: ACCOUNT }, aContent());
    store.owners.set(other, ACCOUNT);
    for (const of of [webhookId, other]) {
      store.deliveries.push({ webhookId: of, state: 'exhausted', createdAt: new Date() });
    }
    expect((await replays.count(ACCOUNT, range, true)).deliveries).toBe(2);
    const id = await all();
    expect(await replays.show(ACCOUNT, id)).toMatchObject({ state: 'running', total: 2 });
    expect(recorded()).toEqual([{ action: 'replay.create', resourceId: id, accountId: ACCOUNT }]);
  });

  it('reports every id of a subscription or application that is unknown, or that others own', async () => {
    store.applications.set('7', '2');
    for (const ask of [
      replays.count('2', { ...range, webhookId, applicationId: '8' }, true),
      replays.start('2', { ...range, webhookId, applicationId: '8' }, true),
    ]) {
      const error: unknown = await ask.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(ValidationError);
      expect(
        (error as ValidationError).faults.map(({ field, code }) => `${field} ${code}`),
      ).toEqual(['webhookId unknown_reference', 'applicationId unknown_reference']);
    }
    expect((await replays.count('2', { ...range, applicationId: '7' }, true)).deliveries).toBe(0);
    expect(store.all).toEqual([]);
  });

  it('is refused for a single subscription that is off', async () => {
    const key = { accountId: ACCOUNT, id: webhookId };
    await fakes.webhooks.update(key, { enabled: false }, () => undefined);
    await expect(replays.start(ACCOUNT, { ...range, webhookId }, true)).rejects.toThrow(
      SubscriptionInactiveError,
    );
  });

  it('has limits of its own', async () => {
    store.deliveries.push({ webhookId, state: 'exhausted', createdAt: new Date() });
    for (let started = 0; started < MAX_RUNNING; started += 1) await all();
    await expect(all()).rejects.toThrow(ReplayLimitError);
    await start();
    for (const { id } of store.all) await store.cancel(id);
    for (let started = MAX_RUNNING; started < STARTED.times; started += 1) await all();
    await expect(all()).rejects.toThrow(RateLimitedError);
    await start();
  });
});

it("does not show or cancel another account's replay", async () => {
  const id = await start();
  for (const [account, one] of [
    ['2', id],
    [ACCOUNT, UNKNOWN],
    [ACCOUNT, 'x'],
  ] as const) {
    await expect(replays.show(account, one)).rejects.toThrow(NotFoundError);
    await expect(replays.cancel(account, one)).rejects.toThrow(NotFoundError);
  }
  expect(store.all[0]?.state).toBe('running');
});

describe('cancelling', () => {
  it('ends a running replay, and is recorded once', async () => {
    const id = await start();
    await replays.cancel(ACCOUNT, id);
    await replays.cancel(ACCOUNT, id);
    expect(await replays.show(ACCOUNT, id)).toMatchObject({ state: 'cancelled' });
    const entry = { action: 'replay.cancel', resourceId: id, accountId: ACCOUNT };
    expect(recorded().slice(1)).toEqual([entry]);
  });

  it('is refused for a completed replay', async () => {
    const id = await start();
    store.all[0]!.state = 'completed';
    await expect(replays.cancel(ACCOUNT, id)).rejects.toThrow(ReplayFinishedError);
  });
});
