import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DemoAccount,
  faultsOf,
  minimalSubscription,
  startDemoAccount,
} from '../support/demo-account.js';

let demo: DemoAccount;
let application: string;

beforeAll(async () => {
  demo = await startDemoAccount();
  application = await demo.anApplication();
});
afterAll(() => demo.stop());

describe('a new subscription', () => {
  it('is answered with 200 and its address, in the body and in Location', async () => {
    const answer = await demo.client.post('/v1/webhooks/', minimalSubscription);
    const { href } = answer.json<{ href: string }>();
    expect(answer.status).toBe(200);
    expect(answer.json()).toEqual({ href });
    expect(answer.headers.location).toBe(href);
    expect(href).toMatch(new RegExp(`^${demo.api.url}/v1/webhooks/\\d+$`));
  });

  it('is shown with its fields in order, and enabled', async () => {
    const path = await demo.aSubscription({ name: ' label ', payload: { key: 'value' } });
    const answer = await demo.client.get(path);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const subscription = answer.json();
    expect(Object.keys(subscription)).toEqual([
      'href',
      'id',
      'accountId',
      'name',
      'event',
      'resource',
      'targetUrl',
      'payload',
      'enabled',
      'createdAt',
      'updatedAt',
      'health',
    ]);
    expect(subscription).toMatchObject({
      href: demo.api.url + path,
      id: path.split('/').at(-1),
      accountId: Number(demo.id),
      name: 'label',
      ...minimalSubscription,
      payload: { key: 'value' },
      enabled: true,
      health: { state: 'ok' },
    });
  });

  it('of an application names it, and has the same kind of address as others', async () => {
    const path = await demo.aSubscription({}, `${application}/webhooks/`);
    expect(path).toMatch(/^\/v1\/webhooks\/\d+$/);
    const subscription = await demo.shown(path);
    expect(Object.keys(subscription).slice(0, 4)).toEqual([
      'href',
      'id',
      'accountId',
      'applicationId',
    ]);
    expect(subscription['applicationId']).toBe(application.split('/').at(-1));
    expect(
      (await demo.client.get(`${application}/webhooks/${String(subscription['id'])}`)).json(),
    ).toEqual(subscription);
  });

  it('leaves out fields that are unset or null', async () => {
    const path = await demo.aSubscription({ name: null, payload: null, enabled: null });
    const subscription = await demo.shown(path);
    for (const field of ['applicationId', 'name', 'payload', 'disabledReason', 'disabledAt']) {
      expect(subscription).not.toHaveProperty(field);
    }
    expect(subscription['enabled']).toBe(true);
  });

  it('ignores unknown and read-only fields', async () => {
    const fields = { id: 1, accountId: 1, applicationId: '1', disabledReason: 'x', other: {} };
    const subscription = await demo.shown(await demo.aSubscription(fields));
    expect(subscription).toMatchObject({ accountId: Number(demo.id) });
    expect(subscription).not.toHaveProperty('applicationId');
  });

  it('may be for any event with any resource, on or off, at either level', async () => {
    const resources = ['call', 'sms', 'transcription', 'all', 'call,sms', 'transcription,call,sms'];
    for (const collection of ['/v1/webhooks', `${application}/webhooks`]) {
      for (const event of ['smsdlr', 'cdrCreated', 'cdrRated']) {
        for (const resource of resources) {
          for (const enabled of [true, false]) {
            const path = await demo.aSubscription({ event, resource, enabled }, collection);
            expect(await demo.shown(path)).toMatchObject({ event, resource, enabled });
          }
        }
      }
    }
  });

  it.each([
    [' sms ,  call', 'sms,call'],
    ['call,sms,call', 'call,sms'],
    ['sms,all', 'all'],
  ])('shows resource %j as %j', async (resource, expected) => {
    expect(await demo.shown(await demo.aSubscription({ resource }))).toMatchObject({
      resource: expected,
    });
  });
});

describe('a faulty subscription', () => {
  it.each<[object, string[]]>([
    [{}, ['event required', 'resource required', 'targetUrl required']],
    [
      { event: null, resource: null, targetUrl: null },
      ['event required', 'resource required', 'targetUrl required'],
    ],
    [{ ...minimalSubscription, event: 'CdrCreated' }, ['event choice']],
    [{ ...minimalSubscription, event: '' }, ['event choice']],
    [{ ...minimalSubscription, event: 5 }, ['event type']],
    [{ ...minimalSubscription, resource: 'Call' }, ['resource choice']],
    [{ ...minimalSubscription, resource: '' }, ['resource choice']],
    [{ ...minimalSubscription, resource: 'call,' }, ['resource choice']],
    [{ ...minimalSubscription, resource: 'all,fax' }, ['resource choice']],
    [{ ...minimalSubscription, resource: ['call'] }, ['resource type']],
    [{ ...minimalSubscription, enabled: 'true' }, ['enabled type']],
    [{ ...minimalSubscription, enabled: 1 }, ['enabled type']],
    [{ ...minimalSubscription, name: '' }, ['name length']],
    [{ ...minimalSubscription, name: 'x'.repeat(256) }, ['name length']],
    [{ ...minimalSubscription, targetUrl: '' }, ['targetUrl length']],
    [{ ...minimalSubscription, targetUrl: 'target.example' }, ['targetUrl format']],
    [{ ...minimalSubscription, targetUrl: 'https://target.example/#x' }, ['targetUrl format']],
    [{ ...minimalSubscription, targetUrl: 'https://target.example/#' }, ['targetUrl format']],
    [{ ...minimalSubscription, targetUrl: 'https://***@target.example/' }, ['targetUrl format']],
    [
      { ...minimalSubscription, targetUrl: 'https://target.example:22/' },
      ['targetUrl not_allowed'],
    ],
    [{ ...minimalSubscription, targetUrl: 'https://target.example:0/' }, ['targetUrl not_allowed']],
    [
      { event: 'x', resource: 'x', targetUrl: 'http://127.0.0.1/', enabled: 0, name: 1 },
      ['enabled type', 'event choice', 'name type', 'resource choice', 'targetUrl not_allowed'],
    ],
  ])('is refused with every fault: %j', async (body, expected) => {
    expect(faultsOf(await demo.client.post('/v1/webhooks', body))).toEqual(expected);
  });
});
