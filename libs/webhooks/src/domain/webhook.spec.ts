import { describe, expect, it } from 'vitest';
import { Webhook } from './webhook.js';

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

  it('takes any other spelling of the target for a new one, whose hold is over', () => {
    const targetUrl = 'https://user:secret@target.example/hook/';
    expect(aWebhook().revisedBy({ targetUrl })).toEqual({ targetUrl, holdUntil: null });
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

  it('cancels nothing when it is off already', () => {
    expect(aWebhook({ enabled: false }).revisedBy({ enabled: false })).toEqual({});
  });

  it('forgets why it was off when it is switched on', () => {
    const gone = aWebhook({ enabled: false, disabledReason: 'gone', disabledAt: new Date() });
    expect(gone.revisedBy({ enabled: true })).toEqual({
      enabled: true,
      disabledReason: null,
      disabledAt: null,
    });
  });
});
