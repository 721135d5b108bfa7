import { describe, expect, it } from 'vitest';
import { bodyOf, faultsIn, NEW_SUBSCRIPTION, subscriptionValues } from './values.js';

const TARGET = 'https://hooks.example.com/switchhook';
const STORED = { ...NEW_SUBSCRIPTION, name: 'Billing', targetUrl: TARGET };

describe('the form of a subscription', () => {
  it('shows a payload as it was sent, and headers line by line', () => {
    const webhook = {
      ...{ event: 'smsdlr', resource: 'sms', targetUrl: TARGET },
      headers: { 'X-A': '***', 'X-B': '***' },
      retry: { schedule: [], timeoutMs: 5_000 },
    };
    const text = '{"payload":{"n": 12345678901234567890},"event":"smsdlr"}';
    expect(subscriptionValues(webhook as never, text)).toEqual({
      ...{ name: '', event: 'smsdlr', resource: 'sms', targetUrl: TARGET },
      ...{ headers: 'X-A: ***\nX-B: ***', payload: '{"n": 12345678901234567890}' },
      ...{ schedule: 'none', timeoutMs: '5000', signature: 'hmac-sha256' },
    });
  });

  it('sends what is filled in, to create one', () => {
    expect(bodyOf(NEW_SUBSCRIPTION)).toBe(
      '{"event":"cdrCreated","resource":"all","signature":"hmac-sha256"}',
    );
  });

  it('sends what was changed alone, a payload as it was typed', () => {
    expect(bodyOf(STORED, STORED)).toBe('{}');
    const payload = '{"n": 1e400, "n": 98765432109876543210.50}';
    expect(bodyOf({ ...STORED, payload }, STORED)).toBe(`{"payload":${payload}}`);
  });

  it('clears what may be absent', () => {
    const base = { ...STORED, payload: '{}', headers: 'X-A: ***', schedule: '5' };
    expect(bodyOf({ ...NEW_SUBSCRIPTION, targetUrl: TARGET }, base)).toBe(
      '{"name":null,"headers":null,"payload":null,"retry":null}',
    );
    expect(bodyOf({ ...STORED, targetUrl: '' }, STORED)).toBe('{"targetUrl":""}');
  });

  it('reads headers and retries', () => {
    const given = { headers: 'X-A: a:b\n\n nonsense \n__proto__: x', schedule: '10, 60,x' };
    expect(bodyOf({ ...STORED, ...given }, STORED)).toBe(
      '{"headers":{"X-A":"a:b","nonsense":"","__proto__":"x"},"retry":{"schedule":[10,60,"x"]}}',
    );
    expect(bodyOf({ ...STORED, schedule: 'None', timeoutMs: '5000' }, STORED)).toBe(
      '{"retry":{"schedule":[],"timeoutMs":5000}}',
    );
  });

  it('refuses what could not be said in JSON', () => {
    expect(faultsIn({ ...STORED, payload: '{"a":1},"enabled":false' })).toEqual({
      payload: 'payload must be valid JSON.',
    });
    expect(faultsIn({ ...STORED, headers: 'X-A: 1\nX-A: 2' })).toEqual({
      headers: 'X-A is there twice.',
    });
    expect(faultsIn({ ...STORED, payload: '{}', headers: 'X-A: 1' })).toEqual({});
  });
});
