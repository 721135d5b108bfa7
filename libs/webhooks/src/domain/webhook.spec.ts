import { describe, expect, it } from 'vitest';
import { HEALTHY, Webhook } from './webhook.js';

function aWebhook(columns: Partial<Webhook> = {}): Webhook {
  return Object.assign(new Webhook(), {
    id: '5',
    name: null,
    event: 'cdrCreated',
    resource: 'all',
    targetUrl: 'https://user:secret@target.example/hook',
    payload: '{"a":1}',
    enabled: true,
    generation: 4,
    ...columns,
  });
}

describe('Webhook.revisedBy', () => {
  it('is empty for no changes and for the same values', () => {
    expect(aWebhook().revisedBy({})).toEqual({});
    const same = {
      name: null,
      event: 'cdrCreated',
      resource: 'all',
      targetUrl: 'https://user:secret@target.example/hook',
      payload: '{"a":1}',
      enabled: true,
    } as const;
    expect(aWebhook().revisedBy(same)).toEqual({});
  });

  it('takes the target exactly as it is shown for unchanged', () => {
    expect(aWebhook().revisedBy({ targetUrl: 'https://***@target.example/hook' })).toEqual({});
  });

  it('takes any other spelling of the target for a new one, of which nothing is known', () => {
    const targetUrl = 'https://user:secret@target.example/hook/';
    const anew = { targetUrl, holdUntil: null, ...HEALTHY };
    expect(aWebhook().revisedBy({ targetUrl })).toEqual(anew);
  });

  it('compares retry policies by what they say', () => {
    const retry = { schedule: [5, 60], timeoutMs: 5_000 };
    const webhook = aWebhook({ retry });
    expect(webhook.revisedBy({ retry: { ...retry, schedule: [5, 60] } })).toEqual({});
    expect(webhook.revisedBy({ retry: { schedule: [5, 60] } })).toEqual({
      retry: { schedule: [5, 60] },
    });
    expect(webhook.revisedBy({ retry: null })).toEqual({ retry: null });
    expect(aWebhook({ retry: null }).revisedBy({ retry: null })).toEqual({});
  });

  it('compares payloads as text', () => {
    expect(aWebhook().revisedBy({ payload: '{"a": 1}' })).toEqual({ payload: '{"a": 1}' });
    expect(aWebhook().revisedBy({ payload: null })).toEqual({ payload: null });
  });

  it('cancels what is pending when it is switched off', () => {
    expect(aWebhook().revisedBy({ enabled: false })).toEqual({
      enabled: false,
      generation: 5,
      cancelling: true,
    });
  });

  it('makes what comes after a pause wait behind what came before', () => {
    expect(aWebhook({ paused: false }).revisedBy({ paused: true })).toEqual({
      paused: true,
      backlog: true,
    });
  });

  it('begins its health anew when it is resumed: while it was paused, nothing failed', () => {
    expect(aWebhook({ paused: true }).revisedBy({ paused: false })).toEqual({
      paused: false,
      ...HEALTHY,
    });
  });

  it('changes nothing when it is paused, or goes on, already', () => {
    for (const paused of [true, false])
      expect(aWebhook({ paused }).revisedBy({ paused })).toEqual({});
  });

  it('cancels nothing when it is off already', () => {
    expect(aWebhook({ enabled: false }).revisedBy({ enabled: false })).toEqual({});
  });

  it('forgets why it was off, and its health, when it is switched on', () => {
    const gone = aWebhook({ enabled: false, disabledReason: 'gone', disabledAt: new Date() });
    expect(gone.revisedBy({ enabled: true })).toEqual({
      enabled: true,
      disabledReason: null,
      disabledAt: null,
      ...HEALTHY,
    });
  });
});

describe('Webhook.health', () => {
  const since = new Date('2026-11-01T00:00:00Z');
  const until = new Date('2026-11-02T00:00:30Z');

  it('is ok before anything failed', () => {
    expect(aWebhook().health).toEqual({ state: 'ok' });
  });

  it('says since when everything fails', () => {
    const health = { state: 'failing', since };
    expect(aWebhook({ failingSince: since }).health).toEqual(health);
  });

  it('says until when nothing is sent, and warns of the end', () => {
    const disablesAt = new Date('2026-11-06T00:00:00Z');
    const health = { state: 'open', since, until, disablesAt };
    expect(aWebhook({ failingSince: since, openUntil: until }).health).toEqual(health);
  });

  it('warns of no end before the next probe', () => {
    const openUntil = new Date('2026-11-07T00:00:00Z');
    const { health } = aWebhook({ failingSince: since, openUntil });
    expect(health).toMatchObject({ disablesAt: openUntil });
  });
});
