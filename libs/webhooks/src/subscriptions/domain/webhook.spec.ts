import { describe, expect, it } from 'vitest';
import { createSecretKey } from 'node:crypto';
import { SecretBox } from '#libs/kernel';
import { Filter } from '../../event-kinds/domain/filter.js';
import { HEALTHY, NEXT, NOW } from './subscription-life.js';
import { Webhook, type WebhookChanges, type WebhookRevision } from './webhook.js';
import { WebhookSecrets } from './webhook-secrets.js';

const secrets = secretsWith('k1');

function secretsWith(id: string): WebhookSecrets {
  return new WebhookSecrets(new SecretBox([{ id, key: createSecretKey(Buffer.alloc(32)) }]));
}

function aWebhook(columns: Partial<Webhook> = {}): Webhook {
  return Object.assign(new Webhook(), {
    id: '5',
    accountId: '1',
    name: null,
    event: 'cdrCreated',
    resource: 'all',
    ...{ filter: null, filterId: null },
    ...secrets.sealTarget('1', 'https://user:secret@target.example/hook'),
    targetVersion: 1,
    headers: null,
    publicKey: null,
    payload: '{"a":1}',
    enabled: true,
    generation: 4,
    ...{ maxPerSecond: null, maxConcurrent: null, ordered: false },
    ...{ pacedUntil: null, paceWaits: false, holdUntil: null },
    ...columns,
  });
}

const revised = (webhook: Webhook, changes: WebhookChanges): WebhookRevision =>
  webhook.revisedBy(changes, secrets);

describe('Webhook.revisedBy', () => {
  it('is empty without changes and for equal values', () => {
    expect(revised(aWebhook(), {})).toEqual({});
    const same = {
      name: null,
      event: 'cdrCreated',
      resource: 'all',
      targetUrl: 'https://user:secret@target.example/hook',
      payload: '{"a":1}',
      enabled: true,
    } as const;
    expect(revised(aWebhook(), same)).toEqual({});
  });

  it('keeps the target when its masked form comes back', () => {
    expect(revised(aWebhook(), { targetUrl: 'https://***@target.example/hook' })).toEqual({});
  });

  it('treats any other spelling of the target as a new target and resets its health', () => {
    const targetUrl = 'https://user:secret@target.example/hook/';
    const { userinfo, ...revision } = revised(aWebhook(), { targetUrl });
    const shown = 'https://***@target.example/hook/';
    const reset = { targetUrl: shown, targetVersion: NEXT, holdUntil: null, ...HEALTHY };
    expect(revision).toEqual(reset);
    expect(secrets.open('1', 'userinfo', userinfo!)).toBe('user:secret');
  });

  it('treats changed or removed user information as a new target', () => {
    for (const userinfo of ['user:secreT@', 'user@', '']) {
      const targetUrl = `https://${userinfo}target.example/hook`;
      expect(revised(aWebhook(), { targetUrl })).toMatchObject({ targetVersion: NEXT });
    }
  });

  it('replaces unreadable user information when given in full, and keeps it when masked', () => {
    const without = secretsWith('k2');
    const full = { targetUrl: 'https://user:secret@target.example/hook' };
    expect(aWebhook().revisedBy(full, without)).toMatchObject({ targetVersion: NEXT });
    const masked = { targetUrl: 'https://***@target.example/hook' };
    expect(aWebhook().revisedBy(masked, without)).toEqual({});
  });

  it('keeps each header that comes back masked, and replaces the others', () => {
    const headers = secrets.sealHeaders({ accountId: '1', headers: null }, { A: 'a', 'X-B': 'b' });
    const webhook = aWebhook({ headers });
    const opened = ({ headers: sealed = null }: WebhookRevision) =>
      secrets.headers(aWebhook({ headers: sealed }));
    expect(revised(webhook, { headers: { A: '***', 'X-B': '***' } })).toEqual({});
    expect(revised(webhook, { headers: { 'X-B': 'b', A: 'a' } })).toEqual({});
    const other = revised(webhook, { headers: { A: '***', 'X-B': 'c' } });
    expect(Object.keys(other)).toEqual(['headers']);
    expect(opened(other)).toEqual({ A: 'a', 'X-B': 'c' });
    expect(opened(revised(webhook, { headers: { 'x-b': '***' } }))).toEqual({ 'x-b': 'b' });
    for (const none of [null, {}])
      expect(revised(webhook, { headers: none })).toEqual({ headers: null });
  });

  it('keeps unreadable headers that come back masked, and replaces those given in full', () => {
    const headers = secrets.sealHeaders({ accountId: '1', headers: null }, { A: 'a', B: 'b' });
    const webhook = aWebhook({ headers });
    const without = secretsWith('k2');
    const { headers: revision } = webhook.revisedBy({ headers: { A: '***', B: 'b' } }, without);
    expect(revision).toEqual({
      A: headers?.['A'],
      B: expect.stringMatching(/^sealed:k2:/) as string,
    });
  });

  it('compares retry policies by value', () => {
    const retry = { schedule: [5, 60], timeoutMs: 5_000 };
    const webhook = aWebhook({ retry });
    expect(revised(webhook, { retry: { ...retry, schedule: [5, 60] } })).toEqual({});
    expect(revised(webhook, { retry: { schedule: [5, 60] } })).toEqual({
      retry: { schedule: [5, 60] },
    });
    expect(revised(webhook, { retry: null })).toEqual({ retry: null });
    expect(revised(aWebhook({ retry: null }), { retry: null })).toEqual({});
  });

  it('compares payloads as text', () => {
    expect(revised(aWebhook(), { payload: '{"a": 1}' })).toEqual({ payload: '{"a": 1}' });
    expect(revised(aWebhook(), { payload: null })).toEqual({ payload: null });
  });

  it('cancels pending deliveries when the subscription is disabled', () => {
    expect(revised(aWebhook(), { enabled: false })).toEqual({
      enabled: false,
      disabledReason: null,
      disabledAt: null,
      generation: NEXT,
      cancelling: true,
    });
  });

  it('queues deliveries accepted during a pause behind earlier ones', () => {
    expect(revised(aWebhook({ paused: false }), { paused: true })).toEqual({
      paused: true,
      backlog: true,
    });
  });

  it('keeps a hold and an open circuit when the subscription is resumed', () => {
    const blocked = { holdUntil: new Date(), openUntil: new Date() };
    const webhook = aWebhook({ paused: true, ...blocked });
    expect(revised(webhook, { paused: false })).toEqual({ paused: false });
  });

  it('restarts the five days of failures when the subscription is resumed', () => {
    const webhook = aWebhook({ paused: true, failingSince: new Date(0) });
    expect(revised(webhook, { paused: false })).toEqual({ paused: false, failingSince: NOW });
  });

  it('changes nothing when a pause or resume repeats the present state', () => {
    for (const paused of [true, false])
      expect(revised(aWebhook({ paused }), { paused })).toEqual({});
  });

  it('queues later deliveries behind those that waited when the last limit of its pace is removed', () => {
    const paced = aWebhook({ maxPerSecond: 10, ordered: true, paceWaits: true });
    expect(revised(paced, { ordered: false })).toEqual({ ordered: false });
    expect(revised(paced, { ordered: false, maxPerSecond: null })).toEqual({
      ...{ ordered: false, maxPerSecond: null },
      ...{ backlog: true, paceWaits: false },
    });
  });

  it('compares filters by their text, and has another id for each', () => {
    const filter = new Filter('{"a":1}');
    const filtered = aWebhook({ filter, filterId: filter.id });
    expect(revised(filtered, { filter: new Filter('{"a":1}') })).toEqual({});
    const other = new Filter('{"a":2}');
    expect(revised(filtered, { filter: other })).toEqual({ filter: other, filterId: other.id });
    expect(other.id).not.toBe(filter.id);
    expect(revised(filtered, { filter: null })).toEqual({ filter: null, filterId: null });
  });

  it('cancels nothing when the subscription is already off', () => {
    expect(revised(aWebhook({ enabled: false }), { enabled: false })).toEqual({});
  });

  it('clears the reason and resets the health when the subscription is enabled', () => {
    const gone = aWebhook({ enabled: false, disabledReason: 'gone', disabledAt: new Date() });
    expect(revised(gone, { enabled: true })).toEqual({
      enabled: true,
      targetVersion: NEXT,
      disabledReason: null,
      disabledAt: null,
      ...HEALTHY,
    });
  });
});

describe('Webhook.health', () => {
  const since = new Date('2026-11-01T00:00:00Z');
  const until = new Date('2026-11-02T00:00:30Z');

  it('is ok without failures', () => {
    expect(aWebhook().health).toEqual({ state: 'ok' });
  });

  it('shows since when every attempt has failed', () => {
    const health = { state: 'failing', since };
    expect(aWebhook({ failingSince: since }).health).toEqual(health);
  });

  it('shows what was lost, whatever the last attempt was', () => {
    const losses = { lost: 15, lastLostAt: until };
    expect(aWebhook({ losses }).health).toEqual({ state: 'losing', ...losses });
    const failing = { failingSince: since };
    expect(aWebhook({ ...failing, losses }).health).toEqual({ state: 'losing', since, ...losses });
    const open = aWebhook({ ...failing, openUntil: until, losses }).health;
    expect(open).toMatchObject({ state: 'open', until, ...losses });
  });

  it('shows until when nothing is sent, and when the subscription is disabled', () => {
    const disablesAt = new Date('2026-11-06T00:00:00Z');
    const health = { state: 'open', since, until, disablesAt };
    expect(aWebhook({ failingSince: since, openUntil: until }).health).toEqual(health);
  });

  it('predicts no disabling before the next probe', () => {
    const openUntil = new Date('2026-11-07T00:00:00Z');
    const { health } = aWebhook({ failingSince: since, openUntil });
    expect(health).toMatchObject({ disablesAt: openUntil });
  });

  it('shows by what deliveries are held back, if any are', () => {
    const pacedUntil = new Date(Date.now() + 60_000);
    const paced = { maxPerSecond: 1, pacedUntil, ordered: true };
    expect(aWebhook(paced).health).toEqual({ state: 'ok' });
    const waiting = { ...paced, paceWaits: true };
    const byRate = { pacedBy: 'maxPerSecond', pacedUntil };
    expect(aWebhook(waiting).health).toEqual({ state: 'ok', ...byRate });
    expect(aWebhook({ ...waiting, failingSince: since }).health).toMatchObject(byRate);
    const inTime = { ...waiting, pacedUntil: new Date(0) };
    expect(aWebhook(inTime).health).toEqual({ state: 'ok', pacedBy: 'ordered' });
    const crowded = { maxConcurrent: 1, paceWaits: true };
    expect(aWebhook(crowded).health).toEqual({ state: 'ok', pacedBy: 'maxConcurrent' });
  });

  it('tells that an ordered subscription waits for a retry, although no worker has looked since', () => {
    const failing = { ordered: true, failingSince: since };
    expect(aWebhook(failing).health).toMatchObject({ state: 'failing', pacedBy: 'ordered' });
    expect(aWebhook({ ...failing, enabled: false }).health).not.toHaveProperty('pacedBy');
    expect(aWebhook({ ...failing, paused: true }).health).not.toHaveProperty('pacedBy');
    expect(aWebhook({ ...failing, ordered: false }).health).not.toHaveProperty('pacedBy');
  });

  it('shows no pace of a subscription that is blocked', () => {
    const waiting = { ordered: true, paceWaits: true };
    for (const blocked of [
      { paused: true },
      { holdUntil: new Date(Date.now() + 60_000) },
      { failingSince: since, openUntil: until },
    ]) {
      expect(aWebhook({ ...waiting, ...blocked }).health).not.toHaveProperty('pacedBy');
    }
  });
});
