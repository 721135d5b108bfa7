import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type DemoAccount,
  faultsOf,
  minimalApplication,
  startDemoAccount,
} from '../support/demo-account.js';

let demo: DemoAccount;

beforeAll(async () => {
  demo = await startDemoAccount();
});
afterAll(() => demo.stop());

describe('a new application', () => {
  it('is answered with 200 and its address, in the body and in Location', async () => {
    const answer = await demo.client.post('/v1/applications/', minimalApplication);
    const { href } = answer.json<{ href: string }>();
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(answer.headers.location).toBe(href);
    expect(answer.json()).toEqual({ href });
    expect(href).toMatch(new RegExp(`^${demo.api.url}/v1/applications/\\d+$`));
  });

  it('is shown with its fields in the order that clients know', async () => {
    const path = await demo.anApplication({
      messagingUrl: 'http://user:pw@intranet:8080/Sms?q=ü#frag',
      environment: 2,
      apiType: 'WebAPI',
    });
    const answer = await demo.client.get(path);
    const application = answer.json();
    expect(Object.keys(application)).toEqual([
      'href',
      'id',
      'name',
      'platform',
      'apiType',
      'voiceUrl',
      'messagingUrl',
      'environment',
      'userId',
      'user',
      'createdAt',
      'updatedAt',
    ]);
    expect(application).toMatchObject({
      href: demo.api.url + path,
      id: path.split('/').at(-1),
      name: 'Switchboard',
      platform: 'webapi',
      apiType: 'webapi',
      voiceUrl: 'http://voice.example/start',
      messagingUrl: 'http://user:pw@intranet:8080/Sms?q=ü#frag',
      environment: `${demo.api.url}/v1/environments/2`,
      userId: Number(demo.id),
      user: `${demo.api.url}/v1/users/${demo.id}`,
    });
    expect(application['createdAt']).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it('leaves out unset fields, and gets scripting and development as defaults', async () => {
    const application = await demo.shown(
      await demo.anApplication({ messagingUrl: null, apiType: null, environment: null }),
    );
    expect(application).not.toHaveProperty('messagingUrl');
    expect(application).not.toHaveProperty('partition');
    expect(application['apiType']).toBe('scripting');
    expect((await demo.client.get('/v1/environments/1')).json()).toMatchObject({
      href: application['environment'],
      type: 'development',
    });
  });

  it('needs only one of the two URLs', async () => {
    const path = await demo.anApplication({ voiceUrl: null, messagingUrl: 'https://m.example' });
    expect(await demo.shown(path)).not.toHaveProperty('voiceUrl');
  });

  it('ignores unknown and read-only fields', async () => {
    const path = await demo.anApplication({
      id: '1',
      href: 'x',
      userId: 999,
      user: {},
      partition: 'Production',
      createdAt: 5,
      other: [1],
    });
    expect(await demo.shown(path)).toMatchObject({ userId: Number(demo.id) });
    expect(await demo.shown(path)).not.toHaveProperty('partition');
  });

  it('accepts platform in place of apiType', async () => {
    expect(await demo.shown(await demo.anApplication({ platform: 'webapi' }))).toMatchObject({
      apiType: 'webapi',
      platform: 'webapi',
    });
  });

  it.each([
    [2],
    ['2'],
    ['/v1/environments/2'],
    ['https://anything.example/prefix/v1/environments/2'],
  ])('accepts environment %j', async (environment) => {
    expect(await demo.shown(await demo.anApplication({ environment }))).toMatchObject({
      environment: `${demo.api.url}/v1/environments/2`,
    });
  });

  it('has its name trimmed, and its length counted in characters, not bytes', async () => {
    expect(await demo.shown(await demo.anApplication({ name: '  Zentrale \t' }))).toMatchObject({
      name: 'Zentrale',
    });
    await demo.anApplication({ name: '😀'.repeat(255) });
    const answer = await demo.client.post('/v1/applications', {
      ...minimalApplication,
      name: '😀'.repeat(256),
    });
    expect(faultsOf(answer)).toEqual(['name length']);
  });

  it('may have the same name as another', async () => {
    expect(await demo.anApplication()).not.toBe(await demo.anApplication());
  });
});

describe('a faulty application', () => {
  it.each<[object, string[]]>([
    [{}, ['name required', 'voiceUrl required']],
    [{ name: 'x' }, ['voiceUrl required']],
    [{ name: 'x', voiceUrl: null, messagingUrl: null }, ['voiceUrl required']],
    [{ voiceUrl: 'http://v' }, ['name required']],
    [{ ...minimalApplication, name: null }, ['name required']],
    [{ ...minimalApplication, name: '' }, ['name length']],
    [{ ...minimalApplication, name: '   ' }, ['name length']],
    [{ ...minimalApplication, name: 5 }, ['name type']],
    [{ ...minimalApplication, name: 'a\u0000b' }, ['name format']],
    [{ ...minimalApplication, name: 'a\nb' }, ['name format']],
    [{ ...minimalApplication, voiceUrl: '' }, ['voiceUrl length']],
    [{ ...minimalApplication, voiceUrl: 'voice.example' }, ['voiceUrl format']],
    [{ ...minimalApplication, voiceUrl: 'ftp://voice.example' }, ['voiceUrl format']],
    [{ ...minimalApplication, voiceUrl: 'http://voice.example/a b' }, ['voiceUrl format']],
    [{ ...minimalApplication, voiceUrl: `http://v/${'x'.repeat(2_040)}` }, ['voiceUrl length']],
    [{ ...minimalApplication, messagingUrl: {} }, ['messagingUrl type']],
    [{ ...minimalApplication, apiType: 'fax' }, ['apiType choice']],
    [{ ...minimalApplication, apiType: '' }, ['apiType choice']],
    [{ ...minimalApplication, apiType: true }, ['apiType type']],
    [{ ...minimalApplication, apiType: 'webapi', platform: 'scripting' }, ['platform conflict']],
    [{ ...minimalApplication, environment: '' }, ['environment format']],
    [{ ...minimalApplication, environment: -1 }, ['environment format']],
    [{ ...minimalApplication, environment: 1.5 }, ['environment format']],
    [{ ...minimalApplication, environment: [1] }, ['environment type']],
    [{ ...minimalApplication, environment: 'production' }, ['environment format']],
    [{ ...minimalApplication, environment: 999 }, ['environment unknown_reference']],
    [{ ...minimalApplication, environment: '007' }, ['environment unknown_reference']],
    [{ ...minimalApplication, environment: '9'.repeat(30) }, ['environment unknown_reference']],
    [
      { name: '', voiceUrl: 'x', messagingUrl: 1, apiType: 'fax', environment: {} },
      ['apiType choice', 'environment type', 'messagingUrl type', 'name length', 'voiceUrl format'],
    ],
  ])('is refused with every fault: %j', async (body, expected) => {
    expect(faultsOf(await demo.client.post('/v1/applications', body))).toEqual(expected);
  });
});

describe('an imported application', () => {
  it('shows its partition, even after an environment is set', async () => {
    const [row] = await demo.database.query<{ id: string }>(
      `INSERT INTO applications (user_id, name, api_type, voice_url, partition)
       VALUES ($1, 'Old', 'scripting', 'http://v/', 'Production') RETURNING id`,
      [demo.id],
    );
    const path = `/v1/applications/${row!.id}`;
    expect(await demo.shown(path)).toMatchObject({ partition: 'Production' });
    expect(await demo.shown(path)).not.toHaveProperty('environment');
    await demo.client.put(path, { environment: 2, partition: 'Sandbox' });
    const application = await demo.shown(path);
    expect(application).toMatchObject({
      partition: 'Production',
      environment: `${demo.api.url}/v1/environments/2`,
    });
    expect(Object.keys(application).slice(-3)).toEqual(['partition', 'createdAt', 'updatedAt']);
  });
});
