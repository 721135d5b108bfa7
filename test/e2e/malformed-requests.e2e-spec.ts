import { once } from 'node:events';
import { connect } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { basic, type Call, type Client, clientOf, send } from '../support/http.js';
import { expectFaults, expectProblem, type Faulty, type Refusal } from '../support/problem.js';
import { startApi } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { connectTo, exchange } from '../support/raw-connection.js';

let database: TestDatabase;
let api: ServiceProcess;
/** A user of the role platform, who owns everything that the paths below name. */
let owner: Client;
let ownerAuth: string;
/** A user of the role account, who owns nothing. */
let stranger: Client;
let strangerAuth: string;
let anyone: Client;
/** The values of `{app}` and the like in a path. */
const ids: Record<string, string> = {};

beforeAll(async () => {
  database = await createTestDatabase();
  const [operator, other] = await Promise.all([
    createUser(database, 'owner', 'platform'),
    createUser(database, 'stranger'),
  ]);
  api = await startApi({ DATABASE_URL: database.url });
  ownerAuth = operator.auth;
  strangerAuth = other.auth;
  owner = clientOf(api.url, operator.auth);
  stranger = clientOf(api.url, other.auth);
  anyone = clientOf(api.url);
  ids['user'] = operator.id;
  ids['otherUser'] = other.id;
  ids['app'] = await made(owner, '/v1/applications', anApplication);
  ids['otherApp'] = await made(stranger, '/v1/applications', anApplication);
  ids['hook'] = await made(owner, '/v1/webhooks', aWebhook);
  ids['appHook'] = await made(owner, at('/v1/applications/{app}/webhooks'), aWebhook);
  const event = await owner.post('/v1/events', { ...anEvent, accountId: operator.id });
  expect(event.status).toBe(202);
  ids['event'] = event.json<{ id: string }>().id;
  const deliveries = await owner.get(at('/v1/webhooks/{hook}/deliveries'));
  ids['delivery'] = deliveries.json<{ id: string }[]>()[0]!.id;
});
afterAll(async () => {
  expect(await api.stop()).toBe('exited with code 0');
  await database.drop();
});

const anApplication = { name: 'Switchboard', voiceUrl: 'http://voice.example/' };
const aWebhook = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://target.example/' };
const anEvent = { event: 'cdrCreated', resource: 'call', data: { number: 1 } };

async function made(client: Client, path: string, body: object): Promise<string> {
  const answer = await client.post(path, body);
  expect(answer.status).toBe(200);
  return answer.json<{ href: string }>().href.split('/').at(-1)!;
}

function at(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => ids[name] ?? name);
}

const problem = (status: number, code: string): Refusal => ({ status, code });
const malformed = problem(400, 'malformed_json');
const unsupported = problem(415, 'unsupported_media_type');
const tooLarge = problem(413, 'body_too_large');
const unauthorized = problem(401, 'unauthorized');
const forbidden = problem(403, 'forbidden');
const notFound = problem(404, 'not_found');
const notAllowed = problem(405, 'method_not_allowed');
const mismatch = problem(412, 'precondition_failed');
const invalid = (...faults: string[]): Refusal => ({
  status: 400,
  code: 'validation_failed',
  faults,
});
const notAnObject = invalid(' type');
const tooBig = invalid(' length');

const KIB = 1 << 10;
const BODY_LIMIT = 256 * KIB;
const BATCH_LIMIT = 8 * KIB * KIB;

const ROUTES_WITH_BODY = [
  'POST /v1/applications',
  'PUT /v1/applications/{app}',
  'POST /v1/webhooks',
  'PUT /v1/webhooks/{hook}',
  'POST /v1/applications/{app}/webhooks',
  'PUT /v1/applications/{app}/webhooks/{appHook}',
  'POST /v1/events',
  'POST /v1/events/batch',
  'POST /v1/erasures',
  'POST /v1/users',
  'PUT /v1/users/{user}',
  'POST /v1/users/{user}/credentials',
  'POST /v1/users/{user}/links',
  'POST /v1/environments',
];

const ROUTES_WITHOUT_BODY = [
  'GET /v1/applications',
  'GET /v1/applications/{app}',
  'DELETE /v1/applications/{app}',
  'GET /v1/webhooks',
  'GET /v1/webhooks/{hook}',
  'DELETE /v1/webhooks/{hook}',
  'GET /v1/webhooks/{hook}/secret',
  'POST /v1/webhooks/{hook}/secret/rotate',
  'POST /v1/webhooks/{hook}/test',
  'GET /v1/webhooks/{hook}/deliveries',
  'GET /v1/webhooks/{hook}/stats',
  'GET /v1/applications/{app}/webhooks',
  'GET /v1/applications/{app}/webhooks/{appHook}',
  'DELETE /v1/applications/{app}/webhooks/{appHook}',
  'GET /v1/deliveries/{delivery}',
  'POST /v1/deliveries/{delivery}/redeliver',
  'POST /v1/deliveries/{delivery}/send',
  'GET /v1/events',
  'GET /v1/events/{event}',
  'GET /v1/feed',
  'GET /v1/users',
  'GET /v1/users/{user}',
  'DELETE /v1/users/{user}',
  'GET /v1/users/{user}/credentials',
  'GET /v1/users/{user}/credentials/1',
  'DELETE /v1/users/{user}/credentials/1',
  'GET /v1/environments',
  'GET /v1/environments/1',
];

function sendTo(route: string, call: Call) {
  const [method = '', path = ''] = route.split(' ');
  return send(method, api.url + at(path), call);
}

/** Like {@link sendTo}, but with the path as written: Node's client would resolve its dots. */
function sendAsWritten(route: string, auth?: string, body?: string) {
  const head = [
    `${at(route)} HTTP/1.1`,
    'Host: x',
    ...(auth === undefined ? [] : [`Authorization: ${basic(auth)}`]),
    ...(body === undefined ? [] : ['Content-Type: application/json']),
    `Content-Length: ${(body ?? '').length}`,
    'Connection: close',
  ];
  return exchange(api.url, `${head.join('\r\n')}\r\n\r\n${body ?? ''}`);
}

const json = (body: string | Uint8Array): Call => ({ body });
const typed = (type: string, body: string | Uint8Array = '{}'): Call => ({
  body,
  headers: { 'content-type': type },
});
const encoded = (encoding: string, body: string | Uint8Array): Call => ({
  body,
  headers: { 'content-encoding': encoding },
});
/**
 * Node's client would add a Content-Type of its own to an empty body, so the header is set here.
 */
const empty = (headers: Record<string, string> = {}): Call => ({
  headers: { 'content-length': '0', ...headers },
});
const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(
    parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : Buffer.from(part))),
  );

const MAX_DEPTH = 64;
/** One value for every 16 bytes of the limit. */
const MAX_VALUES = BODY_LIMIT / 16;
/** Deep, with few enough values that the text is still parsed. */
const DEPTH = MAX_VALUES - 1;

const FAULTY_BODIES: [what: string, call: Call, refusal: Refusal][] = [
  ['no body and no Content-Type', empty(), notAnObject],
  ['no body with a Content-Type', empty({ 'content-type': 'application/json' }), notAnObject],
  ['an empty body of another type', empty({ 'content-type': 'text/plain' }), notAnObject],
  [
    'an empty chunked body',
    { ...json(''), headers: { 'content-length': [], 'transfer-encoding': 'chunked' } },
    notAnObject,
  ],
  [
    'an empty chunked body without a type',
    {
      body: '',
      headers: { 'content-length': [], 'content-type': [], 'transfer-encoding': 'chunked' },
    },
    notAnObject,
  ],
  [
    'a chunked body without a type',
    {
      body: '{}',
      headers: { 'content-length': [], 'content-type': [], 'transfer-encoding': 'chunked' },
    },
    unsupported,
  ],
  ['an array', json('[]'), notAnObject],
  ['an array of objects', json('[{"name":"x"}]'), notAnObject],
  ['a string', json('"{}"'), notAnObject],
  ['an empty string', json('""'), notAnObject],
  ['a number', json('5'), notAnObject],
  ['true', json('true'), notAnObject],
  ['null', json('null'), notAnObject],
  ['an array nested 16,383 deep', json('['.repeat(DEPTH) + ']'.repeat(DEPTH)), notAnObject],
  ['16,383 open brackets', json('['.repeat(DEPTH)), malformed],
  ['a nested object without an end', json('{"a":'.repeat(DEPTH)), malformed],
  ['a truncated object', json('{"name": "x"'), malformed],
  ['a truncated string', json('{"name": "x'), malformed],
  ['a truncated escape', json('{"name": "\\u00"}'), malformed],
  ['an unknown escape', json('{"name": "\\x41"}'), malformed],
  ['only blanks', json(' \r\n\t'), malformed],
  ['two objects', json('{}{}'), malformed],
  ['text after the object', json('{} x'), malformed],
  ['single quotes', json("{'name': 'x'}"), malformed],
  ['a name without quotes', json('{name: "x"}'), malformed],
  ['a trailing comma', json('{"name": "x",}'), malformed],
  ['a comment', json('{"name": "x"} // x'), malformed],
  ['NaN', json('{"environment": NaN}'), malformed],
  ['a number with a leading zero', json('{"environment": 01}'), malformed],
  ['a form', json('name=x&voiceUrl=http://v/'), malformed],
  ['XML', json('<application/>'), malformed],
  ['U+0000 in a string', json('{"name": "a\0b"}'), malformed],
  ['a line break in a string', json('{"name": "a\nb"}'), malformed],
  ['a second byte order mark', json('\ufeff\ufeff{}'), malformed],
  ['Latin-1', json(bytes('{"name": "', [0xfc], '"}')), malformed],
  ['overlong UTF-8', json(bytes('{"name": "', [0xc0, 0x80], '"}')), malformed],
  ['a surrogate in UTF-8', json(bytes('{"name": "', [0xed, 0xa0, 0x80], '"}')), malformed],
  ['UTF-8 that breaks off', json(bytes('{"name": "x"}', [0xe2, 0x82])), malformed],
  ['UTF-16 with its mark', json(Buffer.from('\ufeff{"name": "x"}', 'utf16le')), malformed],
  [
    'UTF-16 that says so',
    typed('application/json; charset=utf-16', Buffer.from('{"name": "x"}', 'utf16le')),
    malformed,
  ],
  [
    'Latin-1 that says so',
    typed('application/json; charset=iso-8859-1', bytes('{"name": "', [0xfc], '"}')),
    malformed,
  ],
  ['an empty Content-Type', typed(''), unsupported],
  ['text/plain', typed('text/plain'), unsupported],
  ['the content type of a form', typed('application/x-www-form-urlencoded', 'name=x'), unsupported],
  ['a multipart form', typed('multipart/form-data; boundary=x', '--x--'), unsupported],
  ['application/merge-patch+json', typed('application/merge-patch+json'), unsupported],
  ['application/problem+json', typed('application/problem+json'), unsupported],
  ['application/jsonp', typed('application/jsonp'), unsupported],
  ['text/json', typed('text/json'), unsupported],
  ['a type without a slash', typed('json'), unsupported],
  ['two types', typed('application/json, text/plain'), unsupported],
  ['any type', typed('*/*'), unsupported],
  ['an unknown encoding', encoded('compress', '{}'), unsupported],
  ['Brotli', encoded('br', brotliCompressSync('{}')), unsupported],
  ['deflate', encoded('deflate', deflateSync('{}')), unsupported],
  ['a charset as the encoding', encoded('utf-8', '{}'), unsupported],
  ['gzip twice', encoded('gzip, gzip', gzipSync(gzipSync('{}'))), unsupported],
  ['text declared as gzip', encoded('gzip', '{}'), malformed],
  ['truncated gzip', encoded('gzip', gzipSync('{"name": "x"}').subarray(0, -6)), malformed],
  [
    'gzip with a wrong checksum',
    encoded('gzip', withFlippedBit(gzipSync('{"name": "x"}'))),
    malformed,
  ],
  ['an array in gzip', encoded('gzip', gzipSync('[]')), notAnObject],
  ['an array in x-gzip', encoded('X-GZip', gzipSync('[]')), notAnObject],
];

function withFlippedBit(packed: Buffer): Buffer {
  const broken = Buffer.from(packed);
  broken[broken.length - 6]! ^= 1;
  return broken;
}

describe.each(ROUTES_WITH_BODY)('%s', (route) => {
  it.each(FAULTY_BODIES)('refuses %s', async (_, call, refusal) => {
    expectProblem(await sendTo(route, { auth: ownerAuth, ...call }), refusal);
  });

  it('refuses a body of one byte more than its limit, plain, chunked or gzipped', async () => {
    const limit = route.endsWith('/batch') ? BATCH_LIMIT : BODY_LIMIT;
    const big = Buffer.alloc(limit + 1, ' ');
    const chunked = { 'transfer-encoding': 'chunked', 'content-length': [] };
    for (const call of [
      json(big),
      { body: big, headers: chunked },
      encoded('gzip', gzipSync(big)),
      encoded('gzip', gzipSync(Buffer.alloc(limit * 4))),
    ]) {
      expectProblem(await sendTo(route, { auth: ownerAuth, ...call }), tooLarge);
    }
    // One byte less is read: the blanks are found to be invalid JSON.
    const whole = big.subarray(1);
    for (const call of [json(whole), encoded('gzip', gzipSync(whole, { level: 0 }))]) {
      expectProblem(await sendTo(route, { auth: ownerAuth, ...call }), malformed);
    }
  });

  it('accepts 64 levels of nesting, and no more', async () => {
    const nested = (levels: number) =>
      `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)},"\\"[{[{":"${'[{'.repeat(99)}"}`;
    const post = (text: string) => sendTo(route, { auth: ownerAuth, body: text });
    if (route.endsWith('/batch')) {
      // Each event of a batch has this limit, as it does alone.
      const events = [nested(MAX_DEPTH), nested(MAX_DEPTH + 1)].join();
      const { results } = (await post(`{"events":[${events}]}`)).json<{ results: Faulty[] }>();
      expect(results[0]!.errors[0]!.code).toBe('required');
      expectFaults(results[1]!, ['/events/1 length']);
      return;
    }
    expect((await post(nested(MAX_DEPTH))).text).not.toContain('levels');
    const answer = await post(nested(MAX_DEPTH + 1));
    expectProblem(answer, tooBig);
    expect(answer.text).toContain('at most 64 levels (this is exceeded at character 68)');
  });

  it('accepts one value for every 16 bytes of its limit, and no more', async () => {
    const most = route.endsWith('/batch') ? BATCH_LIMIT / 16 : MAX_VALUES;
    const withValues = (count: number) => `{"x":[${'1,'.repeat(count - 2)}1]}`;
    const post = (text: string) => sendTo(route, { auth: ownerAuth, body: text });
    expect((await post(withValues(most))).text).not.toContain('values');
    const answer = await post(withValues(most + 1));
    expectProblem(answer, tooBig);
    expect(answer.text).toContain(`at most ${most} values (this is exceeded at character `);
  });

  it('says at which byte a body stops being JSON', async () => {
    const answer = await sendTo(route, { auth: ownerAuth, body: '\ufeff{"näme": NaN}' });
    expectProblem(answer, malformed);
    expect(answer.text).toContain('The body is not valid JSON (at byte offset 13).');
  });

  it('treats prototype members as unknown ones', async () => {
    const members = JSON.stringify({
      ...anApplication,
      ...aWebhook,
      ...anEvent,
      username: 'proto',
    });
    const body =
      `{"__proto__":${members},"constructor":{"prototype":${members}},"prototype":${members},` +
      '"toString":1,"valueOf":null,"hasOwnProperty":false,"__defineGetter__":[],"toJSON":"x"}';
    const answer = await sendTo(route, { auth: ownerAuth, body });
    const takesNothing = /^PUT|credentials$/.test(route);
    if (takesNothing) expect(answer.status).toBe(200);
    else expectProblem(answer, { status: 400, code: 'validation_failed' });
  });
});

describe('a field', () => {
  const long = (length: number) => 'x'.repeat(length);
  /** Stands for an array that is almost too deep. */
  const deep = '<deep>';
  /** Values that no text field accepts, each with its fault. */
  const NO_TEXT: [unknown, string][] = [
    [5, 'type'],
    [-0.5, 'type'],
    [true, 'type'],
    [[], 'type'],
    [['x'], 'type'],
    [{}, 'type'],
    [{ toString: 'x' }, 'type'],
    [deep, 'type'],
  ];
  const NO_URL: [unknown, string][] = [
    ...NO_TEXT,
    ['', 'length'],
    [`http://h/${long(2_040)}`, 'length'],
    ['x', 'format'],
    ['host.example', 'format'],
    ['//host.example/', 'format'],
    ['/path', 'format'],
    ['http:', 'format'],
    ['http://', 'format'],
    ['http:///path', 'format'],
    ['http:/host/', 'format'],
    ['http:host', 'format'],
    ['http:\\\\host\\', 'format'],
    ['http://?query', 'format'],
    ['http://user@/', 'format'],
    ['http://host:port/', 'format'],
    ['http://host:65536/', 'format'],
    ['http://[::1', 'format'],
    ['http://[::1%25eth0]/', 'format'],
    ['http://%00/', 'format'],
    ['http://h%20h/', 'format'],
    ['http://1.2.3.256/', 'format'],
    ['ftp://host/', 'format'],
    ['javascript:alert(1)', 'format'],
    ['file:///etc/passwd', 'format'],
    ['data:text/plain,x', 'format'],
    [' http://host/', 'format'],
    ['http://host/ ', 'format'],
    ['http://host/a b', 'format'],
    ['http://host/\u00a0', 'format'],
    ['http://host/\n', 'format'],
    ['http://ho\tst/', 'format'],
    ['http://host/\u0000', 'format'],
    ['http://host/\u007f', 'format'],
    ['http://host/\ud800', 'format'],
  ];
  const NO_LABEL: [unknown, string][] = [
    ...NO_TEXT,
    ['', 'length'],
    [' \t\n', 'length'],
    [long(256), 'length'],
    ['a\u0000b', 'format'],
    ['\u0000', 'format'],
    ['a\nb', 'format'],
    ['a\u001bb', 'format'],
    ['a\u007fb', 'format'],
    ['a\u0085b', 'format'],
    ['a\ud800b', 'format'],
    ['\udc00', 'format'],
  ];
  const NO_CHOICE: [unknown, string][] = [
    ...NO_TEXT,
    ['', 'choice'],
    ['x', 'choice'],
    ['__proto__', 'choice'],
    ['constructor', 'choice'],
    ['\u0000', 'choice'],
    ['\ud800', 'choice'],
    [long(100_000), 'choice'],
  ];
  const NO_FLAG: [unknown, string][] = [
    [0, 'type'],
    [1, 'type'],
    ['', 'type'],
    ['true', 'type'],
    [[], 'type'],
    [{}, 'type'],
    [deep, 'type'],
  ];
  const NO_ENVIRONMENT: [unknown, string][] = [
    [true, 'type'],
    [[1], 'type'],
    [{ id: 1 }, 'type'],
    [deep, 'type'],
    ['', 'format'],
    [' 1', 'format'],
    ['+1', 'format'],
    ['-1', 'format'],
    ['1.0', 'format'],
    ['1e0', 'format'],
    ['0x1', 'format'],
    ['１', 'format'],
    [-1, 'format'],
    [0.5, 'format'],
    [1e300, 'format'],
    ['production', 'format'],
    ['/v1/environments/', 'format'],
    ['/v1/environments/x', 'format'],
    ['v1/environments/1', 'format'],
    ['/v1/applications/1', 'format'],
    ['/v1/environments/1?x', 'format'],
    ['/v1/environments/1#x', 'format'],
    ['http:///v1/environments/1', 'format'],
    [0, 'unknown_reference'],
    ['999', 'unknown_reference'],
    ['007', 'unknown_reference'],
    ['9223372036854775808', 'unknown_reference'],
    ['/v1/environments/9223372036854775808', 'unknown_reference'],
    ['9'.repeat(1_000), 'unknown_reference'],
  ];
  const NO_EVENT_ID: [unknown, string][] = [
    [true, 'type'],
    [[1], 'type'],
    [{}, 'type'],
    [deep, 'type'],
    ['', 'format'],
    [' 1', 'format'],
    ['+1', 'format'],
    ['-1', 'format'],
    ['01', 'format'],
    ['1.0', 'format'],
    ['1e3', 'format'],
    ['0x1', 'format'],
    ['１', 'format'],
    ['1\u0000', 'format'],
    ['9223372036854775808', 'format'],
    [-1, 'format'],
    [0.5, 'format'],
    [1e300, 'format'],
    [2 ** 53, 'format'],
    ['9223372036854775807', 'unknown_reference'],
    [0, 'unknown_reference'],
  ];
  const NO_TIME: [unknown, string][] = [
    ...NO_TEXT,
    ['', 'format'],
    ['now', 'format'],
    ['1763712000', 'format'],
    ['2026-11-21', 'format'],
    ['2026-11-21T12:00:00', 'format'],
    ['2026-11-21T12:00Z', 'format'],
    ['2026-11-21T24:00:00Z', 'format'],
    ['2026-11-21T12:60:00Z', 'format'],
    ['2026-02-29T12:00:00Z', 'format'],
    ['2026-13-01T12:00:00Z', 'format'],
    ['2026-00-01T12:00:00Z', 'format'],
    ['2026-11-00T12:00:00Z', 'format'],
    ['2026-11-21T12:00:00+24:00', 'format'],
    ['2026-11-21T12:00:00+0100', 'format'],
    ['2026-11-21T12:00:00,5Z', 'format'],
    ['0000-01-01T00:00:00Z', 'format'],
    ['+002026-11-21T12:00:00Z', 'format'],
    ['10000-01-01T00:00:00Z', 'format'],
    ['Sat, 21 Nov 2026 12:00:00 GMT', 'format'],
    ['2026-11-21T12:00:00Z\u0000', 'format'],
  ];
  const NO_TARGET: [unknown, string][] = [
    ...NO_URL,
    ['https://target.example/#', 'format'],
    ['https://target.example/#fragment', 'format'],
    ...[
      'http://localhost/',
      'http://LocalHost:8080/',
      'http://localhost./',
      'http://x.localhost/',
      'http://loc%61lhost/',
      'http://ｌｏｃａｌｈｏｓｔ/',
      'http://127.0.0.1/',
      'http://127.0.0.1./',
      'http://127.1/',
      'http://127.0.1/',
      'http://2130706433/',
      'http://0x7f000001/',
      'http://0x7f.1/',
      'http://0177.0.0.1/',
      'http://017700000001/',
      'http://%31%32%37.0.0.1/',
      'http://①②⑦.⓪.⓪.①/',
      'http://127。0。0。1/',
      'http://0/',
      'http://0.0.0.0/',
      'http://10.0.0.1/',
      'http://172.16.0.1/',
      'http://172.31.255.255/',
      'http://192.168.0.1/',
      'http://169.254.169.254/latest/meta-data/',
      'http://100.64.0.1/',
      'http://192.0.0.1/',
      'http://192.0.2.1/',
      'http://198.18.0.1/',
      'http://198.51.100.1/',
      'http://203.0.113.1/',
      'http://224.0.0.1/',
      'http://240.0.0.1/',
      'http://255.255.255.255/',
      'http://[::]/',
      'http://[::1]/',
      'http://[0:0:0:0:0:0:0:1]/',
      'http://[::127.0.0.1]/',
      'http://[::ffff:127.0.0.1]/',
      'http://[::ffff:a00:1]/',
      'http://[64:ff9b::7f00:1]/',
      'http://[64:ff9b:1::1]/',
      'http://[2002:7f00:1::]/',
      'http://[2001::1]/',
      'http://[2001:db8::1]/',
      'http://[3fff::1]/',
      'http://[100::1]/',
      'http://[5f00::1]/',
      'http://[fc00::1]/',
      'http://[fe80::1]/',
      'http://[fec0::1]/',
      'http://[ff02::1]/',
      'http://public.example@127.0.0.1/',
      'http://user:password@[::1]:8080/',
      'http://target.example:0/',
      'http://target.example:22/',
      'http://target.example:0025/',
      'http://target.example:79/',
      'http://target.example:444/',
      'http://target.example:1023/',
      'https://user@target.example:25/',
    ].map((url): [string, string] => [url, 'not_allowed']),
  ];
  const NO_PASSWORD: [unknown, string][] = [
    ...NO_TEXT,
    ['', 'length'],
    ['1234567', 'length'],
    [long(201), 'length'],
    [long(200_000), 'length'],
    ['12345678\u0000', 'format'],
    ['12345678\ud800', 'format'],
  ];
  const NO_USERNAME: [unknown, string][] = [
    ...NO_TEXT,
    ['', 'format'],
    ['5', 'format'],
    ['5x', 'format'],
    [' x', 'format'],
    ['x\n', 'format'],
    ['x:y', 'format'],
    ['x/y', 'format'],
    ['ünicode', 'format'],
    ['x\u0000', 'format'],
    ['x\ud800', 'format'],
    ['_x', 'format'],
    [long(65), 'format'],
    ['owner', 'conflict'],
  ];
  const NO_RESOURCE: [unknown, string][] = [
    ...NO_CHOICE,
    [['call', 'sms'], 'type'],
    [',', 'choice'],
    ['call,', 'choice'],
    [',call', 'choice'],
    ['call,,sms', 'choice'],
    ['call;sms', 'choice'],
    ['call sms', 'choice'],
    ['CALL', 'choice'],
    ['all,fax', 'choice'],
    ['call\u0000', 'choice'],
  ];
  const NO_OBJECT: [unknown, string][] = [
    [5, 'type'],
    ['', 'type'],
    ['{}', 'type'],
    [true, 'type'],
    [[1], 'type'],
    [[{}], 'type'],
    [deep, 'type'],
  ];
  const TABLE: [route: string, rest: object, field: string, values: [unknown, string][]][] = [];
  const onBoth = (
    routes: [string, object][],
    fields: Record<string, [unknown, string][]>,
  ): void => {
    for (const [route, rest] of routes)
      for (const [field, values] of Object.entries(fields))
        TABLE.push([route, rest, field, values]);
  };
  onBoth(
    [
      ['POST /v1/applications', anApplication],
      ['PUT /v1/applications/{app}', {}],
    ],
    {
      name: NO_LABEL,
      voiceUrl: NO_URL,
      messagingUrl: NO_URL,
      apiType: NO_CHOICE,
      platform: NO_CHOICE,
      environment: NO_ENVIRONMENT,
    },
  );
  onBoth(
    [
      ['POST /v1/webhooks', aWebhook],
      ['PUT /v1/webhooks/{hook}', {}],
      ['POST /v1/applications/{app}/webhooks', aWebhook],
      ['PUT /v1/applications/{app}/webhooks/{appHook}', {}],
    ],
    {
      event: NO_CHOICE,
      resource: NO_RESOURCE,
      targetUrl: NO_TARGET,
      name: NO_LABEL,
      enabled: NO_FLAG,
      payload: [...NO_OBJECT, [{ x: long(16 * KIB) }, 'length']],
    },
  );
  onBoth([['POST /v1/events', { ...anEvent, accountId: 1 }]], {
    event: NO_CHOICE,
    resource: [...NO_CHOICE, ['all', 'choice'], ['call,sms', 'choice']],
    accountId: NO_EVENT_ID,
    applicationId: NO_EVENT_ID,
    id: [
      ...NO_TEXT,
      ['', 'length'],
      [long(256), 'length'],
      ['a\u0000', 'format'],
      ['\udc00', 'format'],
    ],
    occurredAt: NO_TIME,
    data: [...NO_OBJECT, [{ x: long(128 * KIB) }, 'length']],
  });
  onBoth([['POST /v1/users', { username: 'newcomer' }]], {
    username: NO_USERNAME,
    role: NO_CHOICE,
    password: NO_PASSWORD,
  });
  onBoth([['PUT /v1/users/{otherUser}', {}]], { status: NO_CHOICE });
  onBoth([['POST /v1/users/{otherUser}/credentials', {}]], { password: NO_PASSWORD });
  onBoth([['POST /v1/environments', { name: 'x', type: 'special', billable: true }]], {
    id: [
      [true, 'type'],
      [[], 'type'],
      [deep, 'type'],
      ['', 'format'],
      ['x', 'format'],
      ['01', 'format'],
      ['9223372036854775808', 'format'],
      [-1, 'format'],
      [0.5, 'format'],
      [2 ** 53, 'format'],
      [1, 'conflict'],
      ['2', 'conflict'],
    ],
    name: NO_LABEL,
    type: NO_CHOICE,
    billable: NO_FLAG,
  });

  it.each(TABLE)(
    'of %s besides %j: no faulty value is a %s',
    async (route, rest, field, values) => {
      for (const [value, code] of values) {
        const told = JSON.stringify(value).slice(0, 80);
        const body = JSON.stringify({ ...rest, [field]: value }).replace(
          JSON.stringify(deep),
          '['.repeat(MAX_DEPTH - 1) + ']'.repeat(MAX_DEPTH - 1),
        );
        const answer = await sendTo(route, { auth: ownerAuth, body });
        expect([told, answer.status]).toEqual([told, 400]);
        const { errors } = answer.json<Faulty>();
        const faults = errors.map((fault) => `${fault.field} ${fault.code}`);
        expect([told, ...faults]).toEqual([told, `${field} ${code}`]);
        expectProblem(answer, invalid(`${field} ${code}`));
      }
    },
  );

  it.each<[string, object, string[]]>([
    ['POST /v1/applications', { name: null, voiceUrl: null }, ['name', 'voiceUrl']],
    [
      'POST /v1/webhooks',
      { event: null, resource: null, targetUrl: null, name: null, payload: null, enabled: null },
      ['event', 'resource', 'targetUrl'],
    ],
    ['POST /v1/applications/{app}/webhooks', {}, ['event', 'resource', 'targetUrl']],
    [
      'POST /v1/events',
      { event: null, resource: null, data: null, accountId: null, id: null, occurredAt: null },
      ['event', 'resource', 'data', 'applicationId'],
    ],
    ['POST /v1/events/batch', {}, ['events']],
    ['POST /v1/events/batch', { events: null }, ['events']],
    ['POST /v1/users', { username: null, role: null, password: null }, ['username']],
    [
      'POST /v1/environments',
      { id: null, name: null, type: null, billable: null },
      ['name', 'type', 'billable'],
    ],
  ])('of %s that is null in %j counts as missing', async (route, body, fields) => {
    const answer = await sendTo(route, { auth: ownerAuth, body });
    expectProblem(answer, invalid(...fields.map((field) => `${field} required`)));
  });

  it.each([
    ['PUT /v1/applications/{app}', ['name', 'apiType', 'platform', 'environment']],
    ['PUT /v1/webhooks/{hook}', ['event', 'resource', 'targetUrl', 'enabled']],
    [
      'PUT /v1/applications/{app}/webhooks/{appHook}',
      ['event', 'resource', 'targetUrl', 'enabled'],
    ],
    ['PUT /v1/users/{otherUser}', ['status']],
  ])('of %s cannot be cleared by null: %j', async (route, fields) => {
    const body = Object.fromEntries(fields.map((field) => [field, null]));
    const answer = await sendTo(route, { auth: ownerAuth, body });
    expectProblem(answer, invalid(...fields.map((field) => `${field} type`)));
  });

  it.each([
    '/\u0000/v1/environments/1',
    '/\ud800/v1/environments/1',
    'http://h\u0000/v1/environments/1',
    'http://h\udc00/v1/environments/1',
    '/v1/environments/1\u0000',
    '/v1/environments/1\n',
  ])('environment of an application cannot be %j', async (environment) => {
    expectProblem(
      await owner.put(at('/v1/applications/{app}'), { environment }),
      invalid('environment format'),
    );
  });

  it('takes its last value when it is repeated, in any spelling of its name', async () => {
    const put = (body: string) => owner.put(at('/v1/applications/{app}'), body);
    expectProblem(await put('{"name": "x", "name": ""}'), invalid('name length'));
    expectProblem(await put('{"name": "x", "n\\u0061me": 5}'), invalid('name type'));
    expectProblem(await put('{"\\u006e\\u0061\\u006D\\u0065": null}'), invalid('name type'));
    expect((await put('{"name": 5, "n\\u0061me": "Switchboard"}')).status).toBe(200);
    const hook = at('/v1/webhooks/{hook}');
    expectProblem(
      await owner.put(hook, '{"payload": {}, "p\\u0061yload": [1]}'),
      invalid('payload type'),
    );
    const event = `"event":"smsdlr","resource":"sms","accountId":${ids['user'] ?? ''}`;
    expectProblem(
      await owner.post('/v1/events', `{${event},"data":{},"d\\u0061ta":"{}"}`),
      invalid('data type'),
    );
  });

  it('of every kind can be faulty at once, and each fault is reported', async () => {
    const faulty = { name: 5, voiceUrl: 'x', messagingUrl: '', apiType: 'x', environment: [] };
    expectProblem(
      await owner.post('/v1/applications', faulty),
      invalid(
        ...['name type', 'voiceUrl format', 'messagingUrl length', 'apiType choice'],
        'environment type',
      ),
    );
    expectProblem(
      await owner.post('/v1/applications', { apiType: 'webapi', platform: 'scripting' }),
      invalid('name required', 'voiceUrl required', 'platform conflict'),
    );
  });

  it('keeps nested text, and returns it unchanged', async () => {
    const data = '{"a":'.repeat(MAX_DEPTH - 1) + '1' + '}'.repeat(MAX_DEPTH - 1);
    const event = `"event":"smsdlr","resource":"sms","accountId":${ids['user'] ?? ''}`;
    const answer = await owner.post('/v1/events', `{${event},"data":${data}}`);
    expect(answer.status).toBe(202);
    const { href } = answer.json<{ href: string }>();
    expect((await owner.get(new URL(href).pathname)).text).toContain(`"data":${data},`);
  });
});

describe('an update that depends on the stored resource', () => {
  it('is refused if it would leave an application without a URL', async () => {
    const answer = await owner.put(at('/v1/applications/{app}'), { voiceUrl: null });
    expectProblem(answer, invalid('voiceUrl required'));
  });

  it('is refused if it masks the user information of a target that has none', async () => {
    const answer = await owner.put(at('/v1/webhooks/{hook}'), {
      targetUrl: 'https://***@target.example/',
    });
    expectProblem(answer, invalid('targetUrl format'));
  });
});

const UNKNOWN_IDS = [
  ...['0', '999999999', '9223372036854775807', '9223372036854775808', '9'.repeat(400)],
  ...['-1', '+1', '01', '1.0', '1e0', '0x1', '1_000', '%201', '1%20', '1%00', '%00', '1%0a'],
  ...['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'],
  ...['1%2F', '1%2f2', '%2e%2e', '%EF%BC%91', '%F0%9F%98%80', '%D9%A1', 'null', 'undefined', 'NaN'],
  ...['%', '%1', '%zz', '%C0%80', '%ED%A0%80', '%FF', "1'--", '1;x', '{id}', ':id', '*', 'a b'],
].map((id) => id.replace(' ', '%20'));

const NO_UUIDS = [
  ...UNKNOWN_IDS,
  '00000000-0000-0000-0000-000000000000',
  'ffffffff-ffff-ffff-ffff-ffffffffffff',
  '019aa8a0-0000-7000-8000-00000000000',
  '019aa8a0-0000-7000-8000-0000000000000',
  '019aa8a0-0000-7000-8000-00000000000g',
  '019aa8a0000070008000000000000000',
  '%7B019aa8a0-0000-7000-8000-000000000000%7D',
  'urn:uuid:019aa8a0-0000-7000-8000-000000000000',
];

describe('an id in a path', () => {
  it.each<[route: string, ids: string[]]>([
    ['GET /v1/applications/{id}', UNKNOWN_IDS],
    ['PUT /v1/applications/{id}', UNKNOWN_IDS],
    ['DELETE /v1/applications/{id}', UNKNOWN_IDS],
    ['GET /v1/applications/{id}/webhooks', UNKNOWN_IDS],
    ['GET /v1/applications/{id}/webhooks/{appHook}', UNKNOWN_IDS],
    ['GET /v1/applications/{app}/webhooks/{id}', UNKNOWN_IDS],
    ['PUT /v1/applications/{app}/webhooks/{id}', UNKNOWN_IDS],
    ['PUT /v1/applications/{id}/webhooks/{appHook}', UNKNOWN_IDS],
    ['DELETE /v1/applications/{app}/webhooks/{id}', UNKNOWN_IDS],
    ['DELETE /v1/applications/{id}/webhooks/{appHook}', UNKNOWN_IDS],
    ['GET /v1/webhooks/{id}', UNKNOWN_IDS],
    ['PUT /v1/webhooks/{id}', UNKNOWN_IDS],
    ['DELETE /v1/webhooks/{id}', UNKNOWN_IDS],
    ['GET /v1/webhooks/{id}/secret', UNKNOWN_IDS],
    ['POST /v1/webhooks/{id}/secret/rotate', UNKNOWN_IDS],
    ['POST /v1/webhooks/{id}/test', UNKNOWN_IDS],
    ['GET /v1/webhooks/{id}/deliveries', UNKNOWN_IDS],
    ['GET /v1/webhooks/{id}/stats', UNKNOWN_IDS],
    ['GET /v1/deliveries/{id}', NO_UUIDS],
    ['POST /v1/deliveries/{id}/redeliver', NO_UUIDS],
    ['POST /v1/deliveries/{id}/send', NO_UUIDS],
    ['GET /v1/events/{id}', NO_UUIDS],
    ['GET /v1/users/{id}', UNKNOWN_IDS],
    ['PUT /v1/users/{id}', UNKNOWN_IDS],
    ['GET /v1/users/{id}/credentials/1', UNKNOWN_IDS],
    ['POST /v1/users/{id}/credentials', UNKNOWN_IDS],
    ['GET /v1/users/{user}/credentials/{id}', UNKNOWN_IDS],
    ['DELETE /v1/users/{user}/credentials/{id}', UNKNOWN_IDS],
    ['DELETE /v1/users/{id}/credentials/1', UNKNOWN_IDS],
    ['GET /v1/environments/{id}', UNKNOWN_IDS],
  ])('of %s that is unknown or malformed is answered with 404', async (route, unknown) => {
    for (const id of unknown) {
      const body = /^(?:PUT|POST) /.test(route) ? '{}' : undefined;
      const answer = await sendAsWritten(route.replace('{id}', id), ownerAuth, body);
      expect([id, answer.status]).toEqual([id, 404]);
      expectProblem(answer, notFound);
    }
  });

  it("of another account's resource is answered like an unknown one", async () => {
    for (const [existing, unknown] of [
      ['GET /v1/applications/{app}', 'GET /v1/applications/999999'],
      ['PUT /v1/applications/{app}', 'PUT /v1/applications/999999'],
      ['DELETE /v1/applications/{app}', 'DELETE /v1/applications/999999'],
      ['GET /v1/webhooks/{hook}', 'GET /v1/webhooks/999999'],
      ['GET /v1/applications/{app}/webhooks/{appHook}', 'GET /v1/applications/9/webhooks/999999'],
      ['GET /v1/applications/{otherApp}/webhooks/{appHook}', 'GET /v1/webhooks/999999'],
      ['GET /v1/applications/{app}/webhooks', 'GET /v1/applications/999999/webhooks'],
      ['GET /v1/webhooks/{hook}/secret', 'GET /v1/webhooks/999999/secret'],
      ['POST /v1/webhooks/{hook}/test', 'POST /v1/webhooks/999999/test'],
      ['GET /v1/webhooks/{hook}/deliveries', 'GET /v1/webhooks/999999/deliveries'],
      ['GET /v1/deliveries/{delivery}', 'GET /v1/deliveries/x'],
      ['POST /v1/deliveries/{delivery}/redeliver', 'POST /v1/deliveries/x/redeliver'],
      ['POST /v1/deliveries/{delivery}/send', 'POST /v1/deliveries/x/send'],
      ['GET /v1/events/{event}', 'GET /v1/events/x'],
      ['GET /v1/users/{user}', 'GET /v1/users/999999'],
      ['GET /v1/users/owner', 'GET /v1/users/nobody'],
    ] as const) {
      const call = existing.startsWith('PUT')
        ? { auth: strangerAuth, body: {} }
        : { auth: strangerAuth };
      const [theirs, missing] = [await sendTo(existing, call), await sendTo(unknown, call)];
      expect([existing, theirs.status]).toEqual([existing, 404]);
      expectProblem(theirs, notFound);
      const own = {
        instance: expect.any(String) as string,
        requestId: expect.any(String) as string,
      };
      expect(missing.json()).toEqual({ ...theirs.json(), ...own });
    }
  });

  it('of a subscription is found only below its own application', async () => {
    const path = at('/v1/applications/{app}/webhooks/{hook}');
    expectProblem(await owner.get(path), notFound);
    expectProblem(await owner.put(path, {}), notFound);
    expectProblem(await owner.delete(path), notFound);
  });
});

describe('a path', () => {
  it.each([
    ...['/v1', '/v1/', '/v1/x', '/v1/x/1', '/v1/application', '/v1/webhook', '/v1/Applications'],
    ...['/v1/WEBHOOKS', '/v1/applications//', '/v1//applications', '/v1/applications//1'],
    ...['/v1/applications/1/webhook', '/v1/applications/1/Webhooks', '/v1/applications/1/x'],
    ...['/v1/applications/1/webhooks/1/secret', '/v1/applications/1/webhooks/1/deliveries'],
    ...['/v1/webhooks/1/Secret', '/v1/webhooks/1//secret'],
    ...['/v1/webhooks/1/secret/rotate/x', '/v1/attempts', '/v1/deliveries/1/attempts'],
    ...['/v1/%61pplications/%zz', '/v1/applications%2F1', '/v1%2Fapplications', '/v1/users/1/2/3'],
    ...[
      '/v1/applications/../users',
      '/v1/applications/./1',
      '/v1/%',
      '/v1/%E0%A4%A',
      '/v1/~',
      '/v1/*',
    ],
    ...['/v1/environments/1/x', '/v1/__proto__', '/v1/constructor', '/v1/toString', '/v1.1/users'],
    ...['/V1/applications', '//v1/applications', '/v1\\applications', '//', '/favicon.ico'],
    ...['/robots.txt', '/v2/applications', '/v10', '/health', '/health/', '/Health/live', '/%'],
    ...['/%2e%2e/%2e%2e/etc/passwd', '/.git/config', `/${'x'.repeat(8_000)}`],
  ])('%s is answered with 404', async (path) => {
    expectProblem(await sendAsWritten(`GET ${path}`, ownerAuth), notFound);
  });

  it.each([
    '/v1',
    '/v1/',
    '/v1/x',
    '/v1//applications',
    '/v1/%',
    '/v1/../health/live',
    '/v1#x',
    'ftp://x/v1/x',
    'x://x/v1',
  ])('%s without credentials is answered with 401', async (path) => {
    expectProblem(await sendAsWritten(`GET ${path}`), unauthorized);
  });
});

describe('a method', () => {
  const KNOWN: Record<string, string[]> = {};
  for (const route of [...ROUTES_WITH_BODY, ...ROUTES_WITHOUT_BODY]) {
    const [method = '', path = ''] = route.split(' ');
    (KNOWN[path] ??= []).push(...(method === 'GET' ? ['GET', 'HEAD'] : [method]));
  }
  const METHODS = [
    ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE', 'PROPFIND', 'LOCK'],
    ...['MKCOL', 'COPY', 'PURGE', 'SEARCH', 'REPORT', 'M-SEARCH'],
  ];

  it.each(Object.entries(KNOWN))(
    'of %s other than %j is answered with 405',
    async (path, allowed) => {
      for (const method of METHODS.filter((name) => !allowed.includes(name))) {
        const answer = await send(method, api.url + at(path), { auth: ownerAuth });
        expect([method, answer.status]).toEqual([method, 405]);
        expect(answer.headers.allow?.split(', ').sort()).toEqual([...allowed].sort());
        if (method !== 'HEAD') expectProblem(answer, notAllowed);
      }
    },
  );

  it('that the path does not support is answered with 405, even with a trailing slash or a query', async () => {
    for (const path of ['/v1/applications/', '/v1/applications?x=1', '/v1/applications/?x=1']) {
      const answer = await send('PATCH', api.url + path, { auth: ownerAuth, body: '{' });
      expectProblem(answer, notAllowed);
      expect(answer.headers.allow).toBe('GET, HEAD, POST');
    }
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'TRACE'])(
    '%s of the public paths is answered with 405, even without credentials',
    async (method) => {
      for (const path of ['/health/live', '/health/ready']) {
        const answer = await send(method, api.url + path);
        expectProblem(answer, notAllowed);
        expect(answer.headers.allow).toBe('GET, HEAD');
      }
    },
  );

  it.each(['PATCH', 'OPTIONS', 'TRACE', 'PROPFIND'])(
    '%s of an unknown path is answered with 404',
    async (method) => {
      expectProblem(await send(method, `${api.url}/v1/x`, { auth: ownerAuth }), notFound);
      expectProblem(await send(method, `${api.url}/x`), notFound);
    },
  );

  it.each(['FOO', 'get', 'Post', 'X-METHOD', 'GETT', 'A'.repeat(1_000)])(
    '%s, which HTTP does not define, is answered with 405',
    async (method) => {
      expectProblem(await sendAsWritten(`${method} /v1/applications`, ownerAuth), notAllowed);
    },
  );

  it("that HTTP does not define is answered with the caller's request id", async () => {
    const lines = ['FOO /v1/nothing HTTP/1.1', 'Host: x', 'X-Request-Id: mine-1', '\r\n'];
    const answer = await exchange(api.url, lines.join('\r\n'));
    expect(answer.headers).toMatchObject({ 'x-request-id': 'mine-1', 'cache-control': 'no-store' });
    expect(answer.json()).toMatchObject({ requestId: 'mine-1', instance: '/v1/nothing' });
  });

  it('and a target with user information are answered without that information', async () => {
    const answer = await sendAsWritten('GET http://bob:hunter2@x/v1/nothing', ownerAuth);
    expectProblem(answer, notFound);
    expect(answer.json()).toMatchObject({ instance: '/v1/nothing' });
  });

  it('CONNECT is answered with 405', async () => {
    const answer = await exchange(api.url, 'CONNECT host:443 HTTP/1.1\r\nHost: host:443\r\n\r\n');
    expectProblem(answer, notAllowed);
  });

  it('OPTIONS of the whole server is answered with 404', async () => {
    expectProblem(await sendAsWritten('OPTIONS *'), notFound);
  });
});

describe('a query parameter', () => {
  const LISTS = [
    '/v1/applications',
    '/v1/webhooks',
    '/v1/applications/{app}/webhooks',
    '/v1/users',
    '/v1/environments',
    '/v1/webhooks/{hook}/deliveries',
    '/v1/events',
  ];
  const FILTERED = ['/v1/webhooks', '/v1/applications/{app}/webhooks'];
  const DELIVERIES = '/v1/webhooks/{hook}/deliveries';

  it.each(LISTS)('limit of %s must be a whole number from 1 to 1,000', async (path) => {
    for (const limit of [
      ...['', '0', '-1', '+1', '1001', '1e2', '0x10', '1.5', ' 1', '1%00', 'x', 'null', 'Infinity'],
      ...['9'.repeat(400), '%EF%BC%91', '%', '%zz', '%FF', '1,2'],
    ]) {
      const answer = await owner.get(`${at(path)}?limit=${limit.replace(' ', '%20')}`);
      expect([limit, answer.status]).toEqual([limit, 400]);
      expectProblem(answer, invalid('limit range'));
    }
    expectProblem(await owner.get(`${at(path)}?limit`), invalid('limit range'));
  });

  it.each(LISTS)('after of %s must be an id', async (path) => {
    for (const after of [
      ...['', '-1', '+1', '01', 'x', '1.0', '9223372036854775808', '1%00', '%00', '%FF', "'--"],
      ...['019aa8a0-0000-7000-8000-00000000000g', '%7B%7D', '9'.repeat(400)],
    ]) {
      const answer = await owner.get(`${at(path)}?after=${after}`);
      expect([after, answer.status]).toEqual([after, 400]);
      expectProblem(answer, invalid('after format'));
    }
  });

  it.each(LISTS)('of %s may be given only once', async (path) => {
    expectProblem(await owner.get(`${at(path)}?limit=1&limit=1`), invalid('limit not_allowed'));
    expectProblem(await owner.get(`${at(path)}?limit=1&l%69mit=`), invalid('limit not_allowed'));
    expectProblem(
      await owner.get(`${at(path)}?after=1&limit=x&after=2`),
      invalid('limit range', 'after not_allowed'),
    );
  });

  it.each(LISTS)('that %s does not know is ignored', async (path) => {
    const unknown = [
      ...['x=1&x=2', 'LIMIT=x', 'limit[]=x', 'limit.x=1', '__proto__=1', 'constructor=x&toString'],
      ...['__proto__[limit]=x', '=', '&&&', '?', '%', '%00=%00', 'a=%zz', '%FF=%FF', '%ED%A0%80'],
    ];
    for (const query of unknown) {
      expect([query, (await owner.get(`${at(path)}?${query}`)).status]).toEqual([query, 200]);
    }
  });

  it.each(LISTS)('of %s with a name such as __proto__ is ignored', async (path) => {
    const whole = await owner.get(at(path));
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'];
    const query = names.flatMap((name) => [`${name}=1`, `${name}[limit]=x`, `limit[${name}]=x`]);
    const answer = await owner.get(`${at(path)}?${[...query, ...query].join('&')}`);
    expect([answer.status, answer.text]).toEqual([200, whole.text]);
  });

  it.each(FILTERED)('enabled of %s must be true or false', async (path) => {
    for (const enabled of ['', '1', '0', 'TRUE', 'yes', 'true%00', 'null', '%20true']) {
      const answer = await owner.get(`${at(path)}?enabled=${enabled}`);
      expectProblem(answer, invalid('enabled choice'));
    }
  });

  it('scope must be all', async () => {
    for (const scope of ['', 'ALL', 'account', 'application', 'all%00']) {
      expectProblem(await owner.get(`/v1/webhooks?scope=${scope}`), invalid('scope choice'));
    }
    expect((await owner.get(at('/v1/applications/{app}/webhooks?scope=x'))).status).toBe(200);
  });

  it.each(FILTERED)('of %s is refused with every fault', async (path) => {
    const query = 'enabled=x&limit=0&after=x&event=a&event=b&resource=a&resource=b';
    expectProblem(
      await owner.get(`${at(path)}?${query}`),
      invalid(
        ...['enabled choice', 'limit range', 'after format'],
        ...['event not_allowed', 'resource not_allowed'],
      ),
    );
  });

  it('with a value that no resource has finds nothing', async () => {
    const values = ['', 'x', '%00', 'all%00', '%FF', '%ED%A0%80', "' OR 1=1--", 'x'.repeat(4_000)];
    for (const [path, names] of [
      ...FILTERED.map((list) => [list, ['event', 'resource']] as const),
      [DELIVERIES, ['event', 'state']] as const,
      ['/v1/events', ['event', 'resource', 'applicationId', 'producerId']] as const,
    ]) {
      for (const name of names) {
        for (const value of values) {
          const answer = await owner.get(`${at(path)}?${name}=${value.replaceAll(' ', '%20')}`);
          expect([path, name, value, answer.text]).toEqual([path, name, value, '[]']);
        }
      }
    }
  });

  it('since and until must be times', async () => {
    for (const time of [
      ...['', '0', 'now', '2026-11-21', '2026-11-21T12:00:00', '2026-02-30T12:00:00Z'],
      ...['2026-11-21T24:00:00Z', '2026-11-21T12:00:00%2B24:00', '1763712000000', '%00'],
      ...['2026-11-21T12:00:00Z%00', '275760-09-13T00:00:00Z', '-000001-01-01T00:00:00Z'],
    ]) {
      for (const name of ['since', 'until']) {
        const answer = await owner.get(`${at(DELIVERIES)}?${name}=${time}`);
        expect([time, answer.status]).toEqual([time, 400]);
        expectProblem(answer, invalid(`${name} format`));
      }
    }
    const twice = await owner.get(
      `${at(DELIVERIES)}?since=x&since=y&until=x&until=y&state=a&state=b`,
    );
    expectProblem(twice, invalid('since not_allowed', 'until not_allowed', 'state not_allowed'));
  });
});

describe('credentials', () => {
  const encodedPair = (pair: string | Uint8Array) => Buffer.from(pair).toString('base64');
  it.each<[what: string, header: string]>([
    ['an empty header', ''],
    ['only a scheme', 'Basic'],
    ['a scheme and a blank', 'Basic '],
    ['no scheme', encodedPair('owner:owner-secret')],
    ['another scheme', `Bearer ${encodedPair('owner:owner-secret')}`],
    ['a digest', 'Digest username="owner"'],
    ['a scheme that only starts with Basic', `Basically ${encodedPair('owner:owner-secret')}`],
    ['a comma after the scheme', `Basic, ${encodedPair('owner:owner-secret')}`],
    ['two values', `Basic ${encodedPair('x:y')}, Basic ${encodedPair('owner:owner-secret')}`],
    ['the plain pair', 'Basic owner:owner-secret'],
    ['invalid Base64', 'Basic !!!!'],
    ['Base64 with a blank', 'Basic b3duZXI6 b3duZXItc2VjcmV0'],
    ['Base64 with too much padding', 'Basic b3duZXI6b3duZXItc2VjcmV0==='],
    ['Base64 of nothing', 'Basic ===='],
    ['a pair without a colon', `Basic ${encodedPair('owner')}`],
    ['only a colon', `Basic ${encodedPair(':')}`],
    ['an empty password', `Basic ${encodedPair('owner:')}`],
    ['an empty username', `Basic ${encodedPair(':owner-secret')}`],
    ['a wrong password', `Basic ${encodedPair('owner:wrong')}`],
    ['an unknown user', `Basic ${encodedPair('nobody:owner-secret')}`],
    ['the id in place of the name', `Basic ${encodedPair('1:owner-secret')}`],
    ['the name in another case', `Basic ${encodedPair('OWNER:owner-secret')}`],
    ['a blank before the name', `Basic ${encodedPair(' owner:owner-secret')}`],
    ['a byte order mark', `Basic ${encodedPair('\ufeffowner:owner-secret')}`],
    ['U+0000 in the name', `Basic ${encodedPair('owner\0:owner-secret')}`],
    ['U+0000 in the password', `Basic ${encodedPair('owner:owner-secret\0')}`],
    ['invalid UTF-8 in the name', `Basic ${encodedPair(bytes([0xff], 'owner:owner-secret'))}`],
    ['invalid UTF-8 in the password', `Basic ${encodedPair(bytes('owner:', [0xc3, 0x28]))}`],
    ['a prototype member as the name', `Basic ${encodedPair('__proto__:constructor')}`],
    ['a name that is SQL', `Basic ${encodedPair("' OR 1=1--:x")}`],
    ['a very long name', `Basic ${encodedPair(`${'x'.repeat(9_000)}:x`)}`],
    ['a very long password', `Basic ${encodedPair(`owner:${'x'.repeat(9_000)}`)}`],
  ])('of %s are answered with 401', async (_, authorization) => {
    expectProblem(
      await anyone.get('/v1/applications', { headers: { authorization } }),
      unauthorized,
    );
  });

  it('are checked before anything else', async () => {
    const call = { headers: { 'content-type': 'text/plain' }, body: 'x' };
    for (const route of [
      ...ROUTES_WITH_BODY,
      ...ROUTES_WITHOUT_BODY,
      'POST /v1/x',
      'PATCH /v1/users',
    ]) {
      expectProblem(await sendTo(route, route.startsWith('GET') ? {} : call), unauthorized);
    }
    expectProblem(await anyone.get('/v1/applications?limit=x'), unauthorized);
    expectProblem(
      await anyone.put('/v1/applications/x', Buffer.alloc(BODY_LIMIT + 1)),
      unauthorized,
    );
  });
});

describe('the checks', () => {
  const text = { headers: { 'content-type': 'text/plain' } };
  const big = 'x'.repeat(BODY_LIMIT + 1);

  it('reject the path and the method before the role', async () => {
    expectProblem(await stranger.post('/v1/users/1', {}), notAllowed);
    expectProblem(await stranger.post('/v1/event', {}), notFound);
    expectProblem(await stranger.put('/v1/events', {}), notAllowed);
  });

  it.each([
    ...['POST /v1/events', 'POST /v1/events/batch', 'POST /v1/users', 'PUT /v1/users/{otherUser}'],
    'POST /v1/environments',
  ])('reject the role before the body of %s', async (route) => {
    for (const call of [{ ...text, body: big }, { body: '{' }, { body: {} }, empty()]) {
      expectProblem(await sendTo(route, { auth: strangerAuth, ...call }), forbidden);
    }
  });

  it('reject the role before the query', async () => {
    expectProblem(await stranger.get('/v1/users?limit=x'), forbidden);
  });

  it.each(['POST /v1/applications', 'PUT /v1/applications/x', 'PUT /v1/webhooks/999999'])(
    'reject type, size, syntax and fields of %s in this order, and then the resource',
    async (route) => {
      const auth = ownerAuth;
      expectProblem(await sendTo(route, { auth, ...text, body: big }), unsupported);
      const compressed = { headers: { 'content-encoding': 'compress' }, body: big };
      expectProblem(await sendTo(route, { auth, ...compressed }), unsupported);
      expectProblem(await sendTo(route, { auth, body: big }), tooLarge);
      expectProblem(await sendTo(route, { auth, body: '{"name": 5' }), malformed);
      expectProblem(await sendTo(route, { auth, body: '{"name": 5}' }), {
        status: 400,
        code: 'validation_failed',
      });
      if (route.startsWith('PUT')) {
        const headers = { 'if-match': '"0"' };
        expectProblem(await sendTo(route, { auth, body: '{}', headers }), notFound);
      }
    },
  );

  it('reject a faulty query before an unknown resource', async () => {
    for (const path of ['/v1/applications/x/webhooks', '/v1/webhooks/999999/deliveries']) {
      expectProblem(await owner.get(`${path}?limit=x`), invalid('limit range'));
      expectProblem(await owner.get(path), notFound);
    }
  });

  it('reject the version after an unknown resource, and before rules that depend on the stored one', async () => {
    const stale = { headers: { 'if-match': '"0"' } };
    const app = at('/v1/applications/{app}');
    expectProblem(await owner.put(app, { name: '' }, stale), invalid('name length'));
    expectProblem(await owner.put(app, { voiceUrl: null }, stale), mismatch);
    expectProblem(await owner.delete(app, stale), mismatch);
    expectProblem(await owner.delete('/v1/applications/999999', stale), notFound);
    expectProblem(await stranger.put(app, {}, stale), notFound);
    const hook = at('/v1/webhooks/{hook}');
    const mask = { targetUrl: 'https://***@target.example/' };
    expectProblem(await owner.put(hook, mask, stale), mismatch);
    expectProblem(
      await owner.put(hook, { targetUrl: 'http://[::1]/' }, stale),
      invalid('targetUrl not_allowed'),
    );
  });

  it('reject an unknown application before they count its subscriptions', async () => {
    expectProblem(await owner.post('/v1/applications/999999/webhooks', aWebhook), notFound);
    expectProblem(
      await owner.post('/v1/applications/999999/webhooks', {}),
      invalid('event required', 'resource required', 'targetUrl required'),
    );
  });
});

describe('If-Match', () => {
  it.each([
    '""',
    '"0"',
    'W/"1"',
    '1',
    "'1'",
    '"',
    'x',
    ',',
    '*, "x"',
    '"1\\""',
    'ÿ',
    'x'.repeat(8_000),
  ])('%j matches nothing', async (tag) => {
    const headers = { 'if-match': tag };
    for (const path of ['/v1/applications/{app}', '/v1/webhooks/{hook}']) {
      expectProblem(await owner.put(at(path), {}, { headers }), mismatch);
      expectProblem(await owner.delete(at(path), { headers }), mismatch);
    }
    const below = at('/v1/applications/{app}/webhooks/{appHook}');
    expectProblem(await owner.put(below, {}, { headers }), mismatch);
    expectProblem(await owner.delete(below, { headers }), mismatch);
  });
});

describe('a batch', () => {
  const post = (body: unknown) => owner.post('/v1/events/batch', body);

  it.each<[unknown, string]>([
    [{}, 'events type'],
    ['x', 'events type'],
    [5, 'events type'],
    [true, 'events type'],
    [[], 'events length'],
    [Array(1_001).fill({}), 'events length'],
  ])('with a faulty member events is refused as a whole', async (events, fault) => {
    expectProblem(await post({ events }), invalid(fault));
  });

  it('reports each faulty element at its place, and accepts the others', async () => {
    const sound = { ...anEvent, accountId: ids['user'] };
    const faulty: [unknown, string[]][] = [
      [5, ['/events/0 type']],
      ['x', ['/events/1 type']],
      [null, ['/events/2 type']],
      [[], ['/events/3 type']],
      [
        {},
        [
          ...['/events/4/event required', '/events/4/resource required'],
          ...['/events/4/data required', '/events/4/applicationId required'],
        ],
      ],
      [{ ...sound, resource: 'all' }, ['/events/5/resource choice']],
      [{ ...sound, event: ['cdrCreated'] }, ['/events/6/event type']],
      [{ ...sound, data: [1] }, ['/events/7/data type']],
      [{ ...sound, data: { x: 'x'.repeat(128 * KIB) } }, ['/events/8/data length']],
      [{ ...sound, id: 'a\u0000' }, ['/events/9/id format']],
      [{ ...sound, id: 5, occurredAt: 5 }, ['/events/10/id type', '/events/10/occurredAt type']],
      [{ ...sound, accountId: 999_999 }, ['/events/11/accountId unknown_reference']],
      [{ ...sound, applicationId: 999_999 }, ['/events/12/applicationId unknown_reference']],
      [{ ...sound, applicationId: ids['otherApp'] }, ['/events/13/accountId conflict']],
      [{ ...sound, occurredAt: '2026-11-21' }, ['/events/14/occurredAt format']],
    ];
    const answer = await post({ events: [...faulty.map(([event]) => event), sound] });
    expect(answer.status).toBe(202);
    expect(answer.headers['content-type']).toBe('application/json; charset=utf-8');
    const { results } = answer.json<{ results: Record<string, unknown>[] }>();
    expect(results).toHaveLength(faulty.length + 1);
    for (const [index, [, faults]] of faulty.entries()) {
      const result = results[index]!;
      expect(Object.keys(result).sort()).toEqual(['code', 'error', 'errors']);
      expect(result['code']).toBe('validation_failed');
      expectFaults(result as unknown as Faulty, faults);
    }
    expect(results.at(-1)).toMatchObject({ duplicate: false, deliveries: 1 });
  });

  it('reads no element from a prototype, and only the last of repeated events members', async () => {
    const sound = JSON.stringify({ ...anEvent, accountId: ids['user'] });
    const body = `{"events":[5],"event\\u0073":[{"__proto__":${sound}},${sound}]}`;
    const { results } = (await post(body)).json<{ results: Record<string, unknown>[] }>();
    expect(results.map((result) => 'href' in result)).toEqual([false, true]);
  });

  it('with an element nested 16,383 deep is answered', async () => {
    const deep = '['.repeat(DEPTH) + ']'.repeat(DEPTH);
    const { results } = (await post(`{"events":[${deep},{"data":${deep}}]}`)).json<{
      results: Faulty[];
    }>();
    expectFaults(results[0]!, ['/events/0 length']);
    expectFaults(results[1]!, ['/events/1 length']);
  });
});

describe('an event', () => {
  it('is refused if it names an unknown account or application, or two accounts', async () => {
    const post = (fields: object) => owner.post('/v1/events', { ...anEvent, ...fields });
    expectProblem(await post({ accountId: 999_999 }), invalid('accountId unknown_reference'));
    expectProblem(
      await post({ applicationId: '999999' }),
      invalid('applicationId unknown_reference'),
    );
    expectProblem(
      await post({ applicationId: ids['otherApp'], accountId: ids['user'] }),
      invalid('accountId conflict'),
    );
  });
});

describe('Switchhook-Account', () => {
  const naming = (account: string | string[]) => ({ headers: { 'switchhook-account': account } });
  const report = (account: string | string[], fields: object) =>
    owner.post('/v1/events', { ...anEvent, ...fields }, naming(account));

  it.each(['', 'owner', '-1', '01', '1, 1', '9223372036854775808', ['1', '1']])(
    'of %j is refused',
    async (account) => {
      const fault = invalid('Switchhook-Account format');
      expectProblem(await report(account, { accountId: ids['user'] }), fault);
      const batch = { events: [{ ...anEvent, accountId: ids['user'] }] };
      expectProblem(await owner.post('/v1/events/batch', batch, naming(account)), fault);
    },
  );

  it('lets events of the account pass, however they name it', async () => {
    const account = ids['user']!;
    for (const fields of [
      { accountId: account },
      { accountId: Number(account) },
      { applicationId: ids['app'] },
    ]) {
      expect((await report(account, fields)).status).toBe(202);
    }
  });

  it('refuses an event of another account', async () => {
    const conflict = invalid('Switchhook-Account conflict');
    const account = ids['user']!;
    expectProblem(await report(account, { accountId: ids['otherUser'] }), conflict);
    expectProblem(await report(account, { applicationId: ids['otherApp'] }), conflict);
  });

  it('refuses an account that does not exist', async () => {
    expectProblem(
      await report('999999', { accountId: '999999' }),
      invalid('Switchhook-Account unknown_reference'),
    );
  });

  it('does not replace the account of an event', async () => {
    expectProblem(await report(ids['user']!, {}), invalid('applicationId required'));
  });

  it('refuses the events of other accounts in a batch, one by one', async () => {
    const events = ['user', 'otherUser', 'user'].map((name) => ({
      ...anEvent,
      accountId: ids[name],
    }));
    const others = { ...anEvent, applicationId: ids['otherApp'] };
    const body = { events: [...events, others] };
    const answer = await owner.post('/v1/events/batch', body, naming(ids['user']!));
    const { results } = answer.json<{ results: Faulty[] }>();
    for (const index of [1, 3]) expectFaults(results[index]!, ['Switchhook-Account conflict']);
    expect([results[0], results[2]]).toMatchObject([{ duplicate: false }, { duplicate: false }]);
  });
});

describe('malformed HTTP', () => {
  const auth = () => `Authorization: ${basic(ownerAuth)}\r\n`;
  const head = (line: string) => `${line}\r\nHost: x\r\n`;
  const post = 'POST /v1/applications HTTP/1.1';

  it.each<[what: string, request: string | Uint8Array]>([
    ['text', 'hello\r\n\r\n'],
    ['blank lines and text', '\r\n\r\nhello there\r\n\r\n'],
    ['a TLS greeting', bytes([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03])],
    ['all byte values', Buffer.from(Array.from({ length: 256 }, (_, index) => index))],
    ['the preface of HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['an unknown version', head('GET / HTTP/9.9') + '\r\n'],
    ['an invalid version', head('GET / HTTP/x') + '\r\n'],
    ['a blank in the path', head('GET /v1/a b HTTP/1.1') + '\r\n'],
    ['U+0000 in the path', head('GET /v1/\0 HTTP/1.1') + '\r\n'],
    ['a relative path', head('GET v1/applications HTTP/1.1') + '\r\n'],
    ['no path', head('GET  HTTP/1.1') + '\r\n'],
    ['a header without a colon', head('GET / HTTP/1.1') + 'no colon\r\n\r\n'],
    ['a folded header', head('GET / HTTP/1.1') + 'X-Y: 1\r\n 2\r\n\r\n'],
    ['a header without a name', head('GET / HTTP/1.1') + ': x\r\n\r\n'],
    ['a blank in the name of a header', head('GET / HTTP/1.1') + 'X Y: z\r\n\r\n'],
    ['a blank before the colon', head('GET / HTTP/1.1') + 'X-Y : z\r\n\r\n'],
    ['U+0000 in a header', head('GET / HTTP/1.1') + 'X-Y: \0\r\n\r\n'],
    ['a carriage return in a header', head('GET / HTTP/1.1') + 'X-Y: a\rb\r\n\r\n'],
    ['a Content-Length in letters', head(post) + 'Content-Length: x\r\n\r\n'],
    ['a negative Content-Length', head(post) + 'Content-Length: -1\r\n\r\n'],
    ['an enormous Content-Length', head(post) + `Content-Length: ${'9'.repeat(30)}\r\n\r\n`],
    ['two Content-Lengths', head(post) + 'Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}'],
    ['a list of Content-Lengths', head(post) + 'Content-Length: 2, 2\r\n\r\n{}'],
    [
      'Content-Length and Transfer-Encoding',
      head(post) + 'Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['chunked in another place than last', head(post) + 'Transfer-Encoding: chunked, gzip\r\n\r\n'],
    ['a header of 17 KB', head('GET / HTTP/1.1') + `X-Y: ${'x'.repeat(17_000)}\r\n\r\n`],
    [
      'an Authorization of 17 KB',
      head('GET / HTTP/1.1') + `Authorization: Basic ${'x'.repeat(17_000)}\r\n\r\n`,
    ],
    ['4,000 headers', head('GET / HTTP/1.1') + 'a:bcdefg\r\n'.repeat(4_000) + '\r\n'],
    ['a path of 17 KB', head(`GET /${'x'.repeat(17_000)} HTTP/1.1`) + '\r\n'],
  ])('is answered with 400, and the connection is closed: %s', async (_, request) => {
    const answer = await exchange(api.url, request);
    expectProblem(answer, malformed);
    expect(answer.headers.connection).toBe('close');
  });

  it.each<[what: string, chunks: string]>([
    ['a size in letters', 'xyz\r\n{}\r\n0\r\n\r\n'],
    ['a negative size', '-2\r\n{}\r\n0\r\n\r\n'],
    ['an enormous size', `${'f'.repeat(30)}\r\n{}\r\n0\r\n\r\n`],
    ['more bytes than its size', '2\r\n{}{}\r\n0\r\n\r\n'],
    ['no size', '\r\n{}\r\n0\r\n\r\n'],
  ])('is answered with 400: a chunk with %s', async (_, chunks) => {
    const type = 'Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    const answer = await exchange(api.url, head(post) + auth() + type + chunks);
    expectProblem(answer, malformed);
  });

  it.each([
    ['GET /v1/webhooks HTTP/1.1', 200],
    ['POST /v1/webhooks/{hook}/secret/rotate HTTP/1.1', 200],
    ['GET /v1/nothing HTTP/1.1', 404],
  ])('in the unread chunks of a body does no harm: %s', async (line, status) => {
    const chunks = 'Transfer-Encoding: chunked\r\n\r\nzz\r\n';
    const answer = await exchange(api.url, head(at(line)) + auth() + chunks);
    expect([answer.status, answer.headers.connection]).toEqual([status, 'close']);
  });

  it('in the chunks of a request without credentials does not precede the 401', async () => {
    const chunks = 'Transfer-Encoding: chunked\r\n\r\nzz\r\n';
    expectProblem(await exchange(api.url, head(post) + chunks), unauthorized);
  });

  it('after the end of a body is not part of the request', async () => {
    const type = 'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}';
    const connection = await connectTo(api.url);
    connection.write(head(post) + auth() + type);
    await connection.until(/validation_failed/);
    connection.write('and more\r\n\r\n');
    await connection.ended;
    expect(connection.received().match(/HTTP\/1\.1 400 /g)).toHaveLength(2);
    expect(connection.received()).toMatch(/malformed_json/);
  });

  it('in the form of bodies that never end disturbs no other client', async () => {
    const type = 'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"name"';
    const connections = await Promise.all(Array.from({ length: 20 }, () => connectTo(api.url)));
    for (const connection of connections) {
      connection.write(head(post) + auth() + type);
      connection.destroy();
    }
    expect((await owner.get('/v1/applications')).status).toBe(200);
  });
});

describe('a refused client that is still sending', () => {
  const MANY_BYTES = Buffer.alloc(24 * KIB * KIB, ' ');

  it.each<[route: string, auth: () => string | undefined, type: string, refusal: Refusal]>([
    ['POST /v1/applications', () => undefined, 'application/json', unauthorized],
    ['POST /v1/x', () => ownerAuth, 'application/json', notFound],
    ['PATCH /v1/applications', () => ownerAuth, 'application/json', notAllowed],
    ['POST /v1/users', () => strangerAuth, 'application/json', forbidden],
    ['POST /v1/applications', () => ownerAuth, 'text/plain', unsupported],
    ['POST /v1/events/batch', () => ownerAuth, 'application/json', tooLarge],
  ])('to %s receives the refusal, even if it asks to close the connection', async (...row) => {
    const [route, user, type, refusal] = row;
    const pair = user();
    for (const length of [{ 'content-length': [], 'transfer-encoding': 'chunked' }, {}]) {
      const answer = await sendTo(route, {
        ...(pair !== undefined && { auth: pair }),
        headers: { connection: 'close', 'content-type': type, ...length },
        body: MANY_BYTES,
      });
      expectProblem(answer, refusal);
    }
  });

  it('is disconnected if it does not stop', async () => {
    const { hostname, port } = new URL(api.url);
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    const closed = new Promise((resolve) => socket.once('close', resolve));
    socket.on('error', () => undefined);
    const answered = once(socket.resume(), 'end');
    socket.write('no HTTP\r\n\r\n');
    await answered;
    const sending = setInterval(() => socket.write('x'), 20);
    await closed;
    clearInterval(sending);
    expect(socket.errored).not.toBeNull();
  });
});

describe('a header', () => {
  const withHeaders = (lines: string[]) =>
    exchange(
      api.url,
      [
        'GET /v1/applications HTTP/1.1',
        `Authorization: ${basic(ownerAuth)}`,
        ...lines,
        'Connection: close',
        '\r\n',
      ].join('\r\n'),
    );

  it.each([
    ...['Host:', 'Host: ', 'Host: a b', 'Host: "><script>', 'Host: [::1'],
    ...[
      'Host: x:99999999',
      'Host: evil.example:99999',
      'Host: evil.example:65536',
      'Host: 1.2.3.256',
      'Host: [:::1]',
      'Host: x/y',
      'Host: ünicode',
      'X-Request-Id: \u00ff',
      'Accept: text/html',
    ],
    ...['Accept: application/xml;q=x', 'Accept-Encoding: br;q=1', 'Accept-Charset: utf-16'],
    ...['Range: bytes=0-1', 'If-Modified-Since: x', 'If-None-Match: *', 'If-Match: "x"', 'TE: x'],
    ...['Upgrade: h2c\r\nHTTP2-Settings: x', 'Upgrade: websocket', 'Expect: x', 'Expect: 200-ok'],
    ...[
      'X-HTTP-Method-Override: DELETE',
      'X-Original-URL: /v1/x',
      'X-Forwarded-Host: evil.example',
    ],
    ...[
      'X-Forwarded-For: x',
      'Forwarded: host=evil.example',
      'Content-Type: x',
      'Content-Length: 0',
    ],
    ...['Content-Encoding: x', 'Cookie: __proto__=1', '__proto__: x'],
  ])('%j does not change the answer of a list', async (line) => {
    const answer = await withHeaders([line.startsWith('Host') ? line : `Host: x\r\n${line}`]);
    expect(answer.status).toBe(200);
    const [application] = answer.json<{ href: string }[]>();
    expect(new URL(application!.href).pathname).toBe(at('/v1/applications/{app}'));
    expect(application!.href).not.toMatch(/evil|script|[\s"<>]/);
  });

  it('counts towards a limit of one hundred', async () => {
    // Together with Authorization, Host and Connection.
    expect((await withHeaders(['Host: x', ...Array<string>(97).fill('a: b')])).status).toBe(200);
    const answer = await withHeaders(['Host: x', ...Array<string>(98).fill('a: b')]);
    expectProblem(answer, malformed);
    expect(answer.text).toContain('at most 100 headers');
  });

  it('that exceeds the total size is refused with the limit', async () => {
    const answer = await withHeaders(['Host: x', `X-Y: ${'x'.repeat(16 << 10)}`]);
    expect(answer.json<{ error: string }>().error).toContain('at most 16384 bytes');
  });

  it.each(['a b', 'x'.repeat(129), '<x>', 'x,y', '"', 'é', ''])(
    'X-Request-Id of %j is replaced by a generated one',
    async (id) => {
      const answer = await withHeaders(['Host: x', `X-Request-Id: ${id}`]);
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    },
  );

  it('X-Request-Id appears in the log line of a refused event', async () => {
    const headers = { 'x-request-id': 'find-me-1' };
    expect((await owner.post('/v1/events', {}, { headers })).status).toBe(400);
    await eventually(
      () => api.output(),
      (lines) => lines.includes('"requestId":"find-me-1"'),
    );
  });

  it.each(['100-Continue', 'x', '100-continue, x', '200-ok', ''])(
    'Expect of %j does not keep a body from being read',
    async (expectation) => {
      const headers = { expect: expectation };
      const answer = await owner.put(at('/v1/applications/{app}'), {}, { headers });
      expect(answer.status).toBe(200);
    },
  );
});

it('has caused no error of the service, and has changed nothing', async () => {
  expect(api.output()).not.toMatch(/"level":"(?:error|fatal)"/);
  const app = (await owner.get(at('/v1/applications/{app}'))).json();
  expect(app).toMatchObject(anApplication);
  expect((await owner.get(at('/v1/webhooks/{hook}'))).json()).toMatchObject(aWebhook);
  expect((await owner.get('/v1/applications')).json<object[]>()).toHaveLength(1);
  expect((await owner.get('/v1/webhooks?scope=all')).json<object[]>()).toHaveLength(2);
  expect((await owner.get('/v1/users')).json<object[]>()).toHaveLength(2);
  expect((await owner.get('/v1/environments')).json<object[]>()).toHaveLength(2);
});
