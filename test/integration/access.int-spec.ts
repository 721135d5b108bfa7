import { fileURLToPath } from 'node:url';
import type { NestExpressApplication } from '@nestjs/platform-express';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { send } from '../support/http.js';
import { apiInProcess } from '../support/in-process.js';

const PAGE = fileURLToPath(new URL('../../docs/security/access.md', import.meta.url));
const ROLES = ['account', 'operator', 'platform', 'reporter'] as const;
type Role = (typeof ROLES)[number];

/**
 * Who may use each route, by role: with every credential (read), with one of the scope `manage` (manage), or not at all
 * (-). All other answers are 403.
 */
const TABLE = `
                                                        account  operator platform reporter
GET    /v1/applications                                 read     read     read     -
POST   /v1/applications                                 manage   manage   manage   -
GET    /v1/applications/{applicationId}/webhooks        read     read     read     -
POST   /v1/applications/{applicationId}/webhooks        manage   manage   manage   -
GET    /v1/applications/{applicationId}/webhooks/{id}   read     read     read     -
PUT    /v1/applications/{applicationId}/webhooks/{id}   manage   manage   manage   -
DELETE /v1/applications/{applicationId}/webhooks/{id}   manage   manage   manage   -
GET    /v1/applications/{id}                            read     read     read     -
PUT    /v1/applications/{id}                            manage   manage   manage   -
DELETE /v1/applications/{id}                            manage   manage   manage   -
GET    /v1/audit                                        read     read     read     -
GET    /v1/deliveries                                   read     read     read     -
POST   /v1/deliveries/redeliver                         manage   manage   manage   -
POST   /v1/deliveries/send                              manage   manage   manage   -
GET    /v1/deliveries/{id}                              read     read     read     -
GET    /v1/deliveries/{id}/attempts                     read     read     read     -
POST   /v1/deliveries/{id}/cancel                       manage   manage   manage   -
POST   /v1/deliveries/{id}/redeliver                    manage   manage   manage   -
POST   /v1/deliveries/{id}/send                         manage   manage   manage   -
GET    /v1/environments                                 read     read     read     -
POST   /v1/environments                                 -        manage   manage   -
GET    /v1/environments/{id}                            read     read     read     -
POST   /v1/erasures                                     manage   manage   manage   -
GET    /v1/erasures/{id}                                read     read     read     -
GET    /v1/events                                       read     read     read     -
POST   /v1/events                                       -        -        manage   manage
POST   /v1/events/batch                                 -        -        manage   manage
GET    /v1/events/{id}                                  read     read     read     -
GET    /v1/events/{id}/deliveries                       read     read     read     -
POST   /v1/events/{id}/deliveries                       manage   manage   manage   -
GET    /v1/feed                                         read     read     read     -
GET    /v1/overview                                     -        read     read     -
GET    /v1/overview/accounts                            -        read     read     -
POST   /v1/overview/recover                             -        manage   manage   -
GET    /v1/overview/recoveries/{id}                     -        read     read     -
GET    /v1/overview/stats                               -        read     read     -
GET    /v1/replays/{id}                                 read     read     read     -
POST   /v1/replays/{id}/cancel                          manage   manage   manage   -
GET    /v1/session                                      read     read     read     -
POST   /v1/session                                      read     read     read     -
DELETE /v1/session                                      read     read     read     -
GET    /v1/stats                                        read     read     read     -
GET    /v1/stream                                       read     read     read     -
GET    /v1/users                                        -        read     read     -
POST   /v1/users                                        -        manage   manage   -
GET    /v1/users/{user}                                 read     read     read     -
PUT    /v1/users/{user}                                 -        manage   manage   -
DELETE /v1/users/{user}                                 -        manage   manage   -
GET    /v1/users/{user}/credentials                     read     read     read     -
POST   /v1/users/{user}/credentials                     manage   manage   manage   -
GET    /v1/users/{user}/credentials/{credential}        read     read     read     -
DELETE /v1/users/{user}/credentials/{credential}        manage   manage   manage   -
POST   /v1/users/{user}/links                           manage   manage   manage   -
GET    /v1/webhooks                                     read     read     read     -
POST   /v1/webhooks                                     manage   manage   manage   -
GET    /v1/webhooks/defaults                            read     read     read     -
GET    /v1/webhooks/{id}                                read     read     read     -
PUT    /v1/webhooks/{id}                                manage   manage   manage   -
DELETE /v1/webhooks/{id}                                manage   manage   manage   -
GET    /v1/webhooks/{id}/deliveries                     read     read     read     -
POST   /v1/webhooks/filter/preview                      manage   manage   manage   -
POST   /v1/webhooks/{id}/filter/preview                 manage   manage   manage   -
POST   /v1/webhooks/{id}/pause                          manage   manage   manage   -
POST   /v1/webhooks/{id}/replay                         manage   manage   manage   -
POST   /v1/webhooks/{id}/resume                         manage   manage   manage   -
GET    /v1/webhooks/{id}/secret                         manage   manage   manage   -
POST   /v1/webhooks/{id}/secret/rotate                  manage   manage   manage   -
GET    /v1/webhooks/{id}/stats                          read     read     read     -
POST   /v1/webhooks/{id}/test                           manage   manage   manage   -
`;

/** What suffices for a route: a credential of any scope, one with the scope `manage`, or none of this role. */
type Needed = 'read' | 'manage' | '-';

/** The needed scope by role, by route. */
const rows = new Map(
  TABLE.trim()
    .split('\n')
    .slice(1)
    .map((line) => {
      const [method = '', path = '', ...needed] = line.split(/ +/);
      return [`${method} ${path}`, needed as Needed[]] as const;
    }),
);

let database: TestDatabase;
let app: NestExpressApplication;
let base: string;
/** `username:password` of a user of each role, by scope. */
const logins = new Map<Role, Record<'read' | 'manage', string>>();

beforeAll(async () => {
  database = await createTestDatabase();
  ({ app, url: base } = await apiInProcess({
    DATABASE_URL: database.url,
    TRUSTED_PROXIES: '127.0.0.1',
  }));
  const { auth: platform } = await createUser(database, 'administrator', 'platform');
  for (const role of ROLES) {
    const { auth: manage } = await createUser(database, role, role);
    const password = `${role}-may-read`;
    const body = { password, scope: 'read' };
    const added = await send('POST', `${base}/v1/users/${role}/credentials`, {
      auth: platform,
      body,
    });
    expect(added.status).toBe(200);
    logins.set(role, { manage, read: `${role}:${password}` });
  }
});
afterAll(async () => {
  await app.close();
  await database.drop();
});

/** All routes of the running application, with `{name}` for each parameter. */
function routes(): string[] {
  const { stack } = app.getHttpAdapter().getInstance().router as unknown as {
    stack: { route?: { path: string; methods: Record<string, boolean> } }[];
  };
  return stack.flatMap(({ route }) =>
    route
      ? Object.keys(route.methods).map(
          (method) => `${method.toUpperCase()} ${route.path.replaceAll(/:(\w+)/g, '{$1}')}`,
        )
      : [],
  );
}

let clients = 0;

/** Calls a route for the user itself, or for something that does not exist. @returns the status */
async function statusOf(route: string, role: Role, auth?: string): Promise<number> {
  const [method = '', path = ''] = route.split(' ');
  const id = /events|deliveries|replays|recoveries|erasures/.test(path)
    ? '019a0000-0000-7000-8000-000000000000'
    : '799999999';
  const filled = path.replace('{user}', role).replaceAll(/\{\w+\}/g, id);
  // The answer to GET never ends.
  const isEndless = path === '/v1/stream';
  // Refusals to one client without credentials are delayed.
  const headers = { 'x-forwarded-for': `198.51.100.${(clients += 1) % 256}` };
  const call = auth === undefined ? { headers } : { auth };
  return (await send(isEndless ? 'HEAD' : method, base + filled, call)).status;
}

it('has a row for every route below /v1/, and no other', () => {
  const known = routes().filter((route) => route.includes(' /v1/'));
  expect(known.length).toBeGreaterThan(50);
  expect([...rows.keys()].sort()).toEqual(known.sort());
  for (const needed of rows.values()) expect(needed).toHaveLength(ROLES.length);
});

it('needs credentials for every route of the table, and for no other', async () => {
  for (const route of rows.keys()) {
    expect([route, await statusOf(route, 'account')]).toEqual([route, 401]);
  }
  const others = routes().filter((route) => / \/(?!v1\/)/.test(route) && !route.includes('*'));
  expect(others.length).toBeGreaterThan(3);
  for (const route of others) {
    expect([route, await statusOf(route, 'account')]).not.toEqual([route, 401]);
  }
});

it.each(ROLES)('is open to the role %s as the table says', async (role) => {
  const { read, manage } = logins.get(role)!;
  for (const [route, needed] of rows) {
    const statuses = [await statusOf(route, role, read), await statusOf(route, role, manage)];
    const isRefused = statuses.map((status) => status === 403);
    const needs = needed[ROLES.indexOf(role)]!;
    expect([route, isRefused, statuses.includes(401)]).toEqual([
      route,
      { read: [false, false], manage: [true, false], '-': [true, true] }[needs],
      false,
    ]);
  }
});

it('answers what is unknown like to everybody: 404 and 405', async () => {
  for (const { read } of logins.values()) {
    expect((await send('POST', `${base}/v1/unknown`, { auth: read })).status).toBe(404);
    expect((await send('PUT', `${base}/v1/audit`, { auth: read })).status).toBe(405);
  }
});

it('tells why a request is refused', async () => {
  const errorOf = async (method: string, path: string, auth: string) =>
    (await send(method, base + path, { auth })).json<{ code: string; error: string }>();
  const { read, manage } = logins.get('account')!;
  for (const [method, path] of [
    ['GET', '/v1/webhooks/1/secret'],
    ['POST', '/v1/webhooks'],
  ] as const) {
    const { code, error } = await errorOf(method, path, read);
    expect([code, error]).toEqual([
      'forbidden',
      'This credential has the scope read; this requires manage.',
    ]);
  }
  expect(await errorOf('GET', '/v1/overview', manage)).toMatchObject({
    error: 'This requires a user with the role platform or operator.',
  });
  expect(await errorOf('GET', '/v1/events', logins.get('reporter')!.manage)).toMatchObject({
    error: 'A user with the role reporter may only report events.',
  });
});

/** The table in Markdown. */
function page(): string {
  const cells = [
    ['route', ...ROLES.map((role) => `\`${role}\``)],
    ...[...rows].map(([route, needed]) => [
      `\`${route}\``,
      ...needed.map((one) => (one === '-' ? 'no' : one)),
    ]),
  ];
  const widths = cells[0]!.map((_, column) => Math.max(...cells.map((row) => row[column]!.length)));
  const lines = cells.map(
    (row) => `| ${row.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`,
  );
  lines.splice(1, 0, `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`);
  return `${HEAD}\n${lines.join('\n')}\n`;
}

const HEAD = `# Who may do what

Every route below \`/v1/\`, by the role of the user and the scope of the credential. \`read\`: with every credential.
\`manage\`: with a credential of the scope \`manage\`; one of the scope \`read\` gets 403. \`no\`: 403. Without credentials, all of
them answer 401. Everything outside \`/v1/\` is for everybody: health, the pages at \`/docs\`, and the files of the console.

A role says which routes a user may call, not whose resources it reaches: a customer (\`account\`) reaches its own alone, and
anything else is answered like an unknown id. [Manage users](../operating/users.md) describes the roles. An operator may not make
or change a user of the role \`platform\`, nor make a link for one.

\`test/integration/access.int-spec.ts\` writes this page (\`npm test -- access --update\`), and calls each route with each kind of
credential.
`;

it('is what docs/security/access.md says', async () => {
  await expect(page()).toMatchFileSnapshot(PAGE);
});
