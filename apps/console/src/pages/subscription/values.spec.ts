import { describe, expect, it } from 'vitest';
import {
  bodyOf,
  faultsIn,
  headersText,
  NEW_SUBSCRIPTION,
  paceText,
  payloadText,
  retriesText,
  subscriptionValues,
} from './values.js';

const TARGET = 'https://hooks.example.com/switchhook';
const STORED = { ...NEW_SUBSCRIPTION, name: 'Billing', targetUrl: TARGET };

describe('the form of a subscription', () => {
  it('shows the payload as it was sent, and one header per line', () => {
    const webhook = {
      ...{ event: 'smsdlr', resource: 'sms', targetUrl: TARGET },
      headers: { 'X-A': '***', 'X-B': '***' },
      retry: { schedule: [], timeoutMs: 5_000 },
      ...{ maxPerSecond: 10, ordered: true },
    };
    const text = '{"payload":{"n": 12345678901234567890},"event":"smsdlr"}';
    expect(subscriptionValues(webhook as never, text)).toEqual({
      ...{
        name: '',
        event: 'smsdlr',
        accounts: '',
        resource: 'sms',
        filter: '',
        targetUrl: TARGET,
      },
      ...{ headers: 'X-A: ***\nX-B: ***', payload: '{"n": 12345678901234567890}' },
      ...{ schedule: 'none', timeoutMs: '5000', signature: 'hmac-sha256' },
      ...{ maxPerSecond: '10', maxConcurrent: '', ordered: 'true' },
    });
  });

  it('sends only filled fields to create one', () => {
    expect(bodyOf(NEW_SUBSCRIPTION)).toBe(
      '{"event":"cdrCreated","resource":"all","signature":"hmac-sha256"}',
    );
  });

  it('sends only changed fields, and the payload as typed', () => {
    expect(bodyOf(STORED, STORED)).toBe('{}');
    const payload = '{"n": 1e400, "n": 98765432109876543210.50}';
    expect(bodyOf({ ...STORED, payload }, STORED)).toBe(`{"payload":${payload}}`);
  });

  it('clears optional fields', () => {
    const base = { ...STORED, payload: '{}', headers: 'X-A: ***', schedule: '5' };
    expect(bodyOf({ ...NEW_SUBSCRIPTION, targetUrl: TARGET }, base)).toBe(
      '{"name":null,"headers":null,"payload":null,"retry":null}',
    );
    expect(bodyOf({ ...STORED, targetUrl: '' }, STORED)).toBe('{"targetUrl":""}');
  });

  it('sets and clears the notices of all accounts', () => {
    const webhook = { event: 'webhookFailing', resource: 'all', targetUrl: TARGET };
    const own = subscriptionValues(webhook as never, '{}');
    const all = subscriptionValues({ ...webhook, accounts: 'all' } as never, '{}');
    expect(bodyOf(all, own)).toBe('{"accounts":"all"}');
    expect(bodyOf(own, all)).toBe('{"accounts":null}');
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

  it('keeps all digits of a filter', () => {
    const text = '{"filter":{"n": 12345678901234567890}}';
    const { filter } = subscriptionValues({ ...STORED, headers: {} } as never, text);
    expect(JSON.parse(filter)).toEqual([{ path: 'n', kind: 'is', value: '12345678901234567890' }]);
    expect(bodyOf({ ...STORED, filter }, STORED)).toBe('{"filter":{"n":12345678901234567890}}');
    expect(bodyOf(STORED, { ...STORED, filter })).toBe('{"filter":null}');
  });

  it('sends the pace as numbers, and input that is none as it is', () => {
    const pace = { maxPerSecond: ' 10 ', maxConcurrent: 'two', ordered: 'true' };
    expect(bodyOf({ ...STORED, ...pace }, STORED)).toBe(
      '{"maxPerSecond":10,"maxConcurrent":"two","ordered":true}',
    );
    expect(bodyOf(STORED, { ...STORED, ...pace })).toBe(
      '{"maxPerSecond":null,"maxConcurrent":null,"ordered":null}',
    );
  });

  it('refuses input that JSON cannot express', () => {
    expect(faultsIn({ ...STORED, payload: '{"a":1},"enabled":false' })).toEqual({
      payload: 'Payload must be valid JSON.',
    });
    const filter = JSON.stringify([{ path: '', kind: 'is', value: '7' }]);
    expect(faultsIn({ ...STORED, filter })).toEqual({ filter: 'A condition names no member.' });
    expect(faultsIn({ ...STORED, headers: 'X-A: 1\nX-A: 2' })).toEqual({
      headers: 'X-A is given twice.',
    });
    expect(faultsIn({ ...STORED, payload: '{}', headers: 'X-A: 1' })).toEqual({});
  });
});

describe('the summary of folded fields', () => {
  it.each([
    ['', '', '', 'no limit'],
    ['10', '', '', 'at most 10 a second'],
    ['10', '1', 'true', 'at most 10 a second, 1 call at once, in order'],
  ])('summarizes the pace %j, %j, %j as: %s', (maxPerSecond, maxConcurrent, ordered, text) => {
    expect(paceText({ maxPerSecond, maxConcurrent, ordered })).toBe(text);
  });

  it('counts headers and the fields of the payload', () => {
    expect(['', 'X-A: 1', 'X-A: 1\n\nX-B: 2'].map((headers) => headersText({ headers }))).toEqual([
      'none',
      '1 header',
      '2 headers',
    ]);
    expect(
      ['', '{"a":1}', '{"a":{"b":1},"c":2}', '{'].map((payload) => payloadText({ payload })),
    ).toEqual(['none', '1 field', '2 fields', 'not valid JSON']);
  });

  it.each([
    ['', '', 'default'],
    ['', '5000', 'default schedule, timeout 5 s'],
    ['none', '', 'a single attempt'],
    ['10', '', '1 retry over 10 s'],
    ['10, 60, 600', '500', '3 retries over 11 minutes, timeout 500 ms'],
    ['10, soon', 'long', '2 retries'],
  ])('summarizes retries %j and timeout %j as: %s', (schedule, timeoutMs, text) => {
    expect(retriesText({ schedule, timeoutMs })).toBe(text);
  });

  it.each([
    ['', '', 'default: 2 retries over 5 minutes, timeout 15 s'],
    ['', '5000', '2 retries over 5 minutes, timeout 5 s'],
    ['none', '', 'a single attempt, timeout 15 s'],
  ])('fills in the defaults for retries %j and timeout %j: %s', (schedule, timeoutMs, text) => {
    const defaults = { schedule: [5, 300], timeoutMs: 15_000 };
    expect(retriesText({ schedule, timeoutMs }, defaults)).toBe(text);
  });
});
