import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { type Answer, basic, clientOf } from '../support/http.js';
import { apiInProcess, type Running } from '../support/in-process.js';
import { expectProblem } from '../support/problem.js';
import { answersIn, connectTo } from '../support/raw-connection.js';

let database: TestDatabase;
let api: Running;
let auth: string;

beforeAll(async () => {
  database = await createTestDatabase();
  ({ auth } = await createUser(database, 'owner'));
  api = await apiInProcess({ DATABASE_URL: database.url });
});
afterAll(async () => {
  await api.stop();
  await database.drop();
});

const CRLF = '\r\n';
const lines = (...all: string[]): string => [...all, CRLF].join(CRLF);
const json = JSON.stringify({ name: 'smuggled', voiceUrl: 'http://voice.example/' });
const credentials = (): string => `Authorization: ${basic(auth)}`;
const JSON_TYPE = 'Content-Type: application/json';

/** A request that creates an application, and so leaves a trace if it is executed. */
const hidden = (): string =>
  lines(
    'POST /v1/applications HTTP/1.1',
    'Host: x',
    credentials(),
    JSON_TYPE,
    `Content-Length: ${json.length}`,
  ) + json;

/** A request that would be answered with 200 without the added lines. */
const list = (...added: string[]): string =>
  lines('GET /v1/webhooks HTTP/1.1', 'Host: x', credentials(), ...added);

/** A request that reads a body; `{}` alone is refused for its members, which is also a 400. */
const create = (...added: string[]): string =>
  lines('POST /v1/applications HTTP/1.1', 'Host: x', credentials(), JSON_TYPE, ...added);

/** The hidden request as the data of a chunk, followed by the last chunk. */
const inChunk = (): string => {
  const text = hidden();
  return `${text.length.toString(16)}${CRLF}${text}${CRLF}0${CRLF}${CRLF}`;
};

/** Every answer to these bytes until the server closes the connection. */
async function allAnswers(bytes: string): Promise<Answer[]> {
  const connection = await connectTo(api.url);
  const timer = setTimeout(() => connection.destroy(), 8_000);
  connection.write(Buffer.from(bytes, 'latin1'));
  await connection.ended;
  clearTimeout(timer);
  return answersIn(connection.received());
}

const made = async (): Promise<number> => {
  const { text } = await clientOf(api.url, auth).get('/v1/applications');
  return (JSON.parse(text) as object[]).length;
};

type Shape = [what: string, bytes: () => string];

const LENGTHS: Shape[] = [
  ...['+5', '-5', '0x5', '5 5', '5,5', '5, 5', '5;5', '5.0', '5e0', '1_0', '5x', 'x', '"5"'],
  ...['\x0b5', '5\x0b', '5\0', '9'.repeat(30), '18446744073709551621', '\xb2', ''],
].map((length) => [
  `a Content-Length of ${JSON.stringify(length)}`,
  () => create(`Content-Length: ${length}`) + hidden(),
]);

const CODINGS: Shape[] = [
  ...['xchunked', 'chunkedx', 'chunked-x', 'cow', 'identity', 'gzip', 'gzip, chunked', 'chunked,'],
  ...['chunked, identity', 'identity, chunked', 'chunked, chunked', 'chunked, cow', ', chunked'],
  ...['chunked;q=1', '"chunked"', "'chunked'", 'chun ked', 'chunked chunked', 'chunked\x0b'],
  ...[
    '\x0bchunked',
    '\x0cchunked',
    '\xa0chunked',
    'chunked\0',
    '\x00chunked',
    'CHUNKED;',
    ';chunked',
  ],
].map((coding) => [
  `a Transfer-Encoding of ${JSON.stringify(coding)}`,
  () => list(`Transfer-Encoding: ${coding}`) + inChunk(),
]);

const TWICE: Shape[] = [
  ['a Content-Length before chunks', () => list('Content-Length: 4', 'Transfer-Encoding: chunked')],
  ['chunks before a Content-Length', () => list('Transfer-Encoding: chunked', 'Content-Length: 4')],
  [
    'a Content-Length beside chunks after a tab',
    () => list('Content-Length: 4', 'Transfer-Encoding:\tchunked'),
  ],
  [
    'a Content-Length beside chunks in another case',
    () => list('content-LENGTH: 4', 'transfer-ENCODING: CHUNKED'),
  ],
  [
    'a Content-Length beside an unknown coding',
    () => list('Content-Length: 4', 'Transfer-Encoding: cow'),
  ],
  ['two Content-Lengths', () => list('Content-Length: 4', 'Content-Length: 5')],
  ['the same Content-Length twice', () => list('Content-Length: 4', 'Content-Length: 4')],
  ['chunked twice', () => list('Transfer-Encoding: chunked', 'Transfer-Encoding: chunked')],
  [
    'chunked and another coding',
    () => list('Transfer-Encoding: chunked', 'Transfer-Encoding: cow'),
  ],
  [
    'another coding and chunked',
    () => list('Transfer-Encoding: identity', 'Transfer-Encoding: chunked'),
  ],
  ['two hosts', () => list('Host: y')],
  ['the same host twice', () => list('host: x')],
].map(([what, head]) => [what as string, () => (head as () => string)() + inChunk()]);

const FIELD_LINES: Shape[] = [
  ...[
    ['a blank before the colon', 'Transfer-Encoding : chunked'],
    ['a tab before the colon', 'Transfer-Encoding\t: chunked'],
    ['a blank before the name', ' Transfer-Encoding: chunked'],
    ['a tab before the name', '\tTransfer-Encoding: chunked'],
    ['a value on a line of its own', 'Transfer-Encoding:\r\n chunked'],
    ['a value continued after a tab', 'X-Y: z\r\n\tTransfer-Encoding: chunked'],
    ['U+0000 in a name', 'Transfer-\0Encoding: chunked'],
    ['U+0000 in a value', 'X-Y: a\0b'],
    ['a control character in a name', 'X\x01Y: z'],
    ['a control character in a value', 'X-Y: \x01'],
    ['a blank in a name', 'Transfer Encoding: chunked'],
    ['a non-ASCII name', 'Transfer-Encoding\xa0: chunked'],
    ['no name', ': chunked'],
    ['no colon', 'Transfer-Encoding chunked'],
    ['a lone carriage return in a value', 'X-Y: z\rTransfer-Encoding: chunked'],
    ['a lone line feed after a value', 'X-Y: z\nTransfer-Encoding: chunked'],
    ['two carriage returns after a value', 'X-Y: z\r\r\nTransfer-Encoding: chunked'],
    ['a lone line feed before the next name', 'X-Y: z\r\n\nTransfer-Encoding: chunked'],
  ].map(([what, line]): Shape => [what!, () => list(line!) + inChunk()]),
  ['lone line feeds', () => list().replaceAll(CRLF, '\n') + hidden()],
  ['a lone line feed after the request line', () => list().replace(CRLF, '\n') + hidden()],
  ['a lone line feed after the headers', () => `${list().slice(0, -2)}\n${hidden()}`],
  ['a lone carriage return after the headers', () => `${list().slice(0, -1)}${hidden()}`],
  ['lone carriage returns', () => list().replaceAll(CRLF, '\r') + hidden()],
];

const CHUNKS: Shape[] = [
  ...[
    ['a size in letters', 'xyz\r\n{}'],
    ['a size with 0x', '0x2\r\n{}'],
    ['a size with a plus', '+2\r\n{}'],
    ['a negative size', '-2\r\n{}'],
    ['a blank before the size', ' 2\r\n{}'],
    ['an empty size', '\r\n{}'],
    ['a size beyond 64 bits', '10000000000000002\r\n{}'],
    ['a size in quotes', '"2"\r\n{}'],
    ['a lone line feed after the size', '2\n{}'],
    ['a lone carriage return after the size', '2\r{}'],
    ['a line feed in an extension', '2;a\nb\r\n{}'],
    ['a carriage return in an extension', '2;a\rb\r\n{}'],
    ['a lone line feed after an extension', '2;a=b\n{}'],
    ['U+0000 in an extension', '2;a=\0\r\n{}'],
    ['an extension of 20 KB', `2;a=${'x'.repeat(20_000)}\r\n{}`],
    ['many extensions', `2${';a=b'.repeat(10_000)}\r\n{}`],
    ['more data than its size', '2\r\n{}{}'],
    ['a lone line feed after the data', '2\r\n{}\n0\r\n\r\n'],
  ].map(([what, chunk]): Shape => [
    `a chunk with ${what!}`,
    () => `${create('Transfer-Encoding: chunked')}${chunk!}${CRLF}0${CRLF}${CRLF}${hidden()}`,
  ]),
  ...[
    ['a blank before its name', ' X-Y: z'],
    ['a blank before its colon', 'X-Y : z'],
    ['a lone line feed', 'X-Y: z\nX-Z: z'],
    ['U+0000', 'X-Y: \0'],
  ].map(([what, line]): Shape => [
    `a trailer with ${what!}`,
    () =>
      `${create('Transfer-Encoding: chunked')}2${CRLF}{}${CRLF}0${CRLF}${line!}${CRLF}${CRLF}${hidden()}`,
  ]),
];

const REQUEST_LINES: Shape[] = [
  ...[
    'GET /v1/webhooks HTTP/0.9',
    'GET /v1/webhooks HTTP/1.2',
    'GET /v1/webhooks HTTP/2.0',
    'GET /v1/webhooks HTTP/1.10',
    'GET /v1/webhooks http/1.1',
    'GET /v1/webhooks HTTP/1,1',
    'GET /v1/webhooks HTTP/1.1 ',
    'GET /v1/webhooks HTTP/1.1 HTTP/1.1',
    'GET\t/v1/webhooks\tHTTP/1.1',
    'GET /v1/webhooks\rHTTP/1.1',
    'GET /v1/web\0hooks HTTP/1.1',
    'GET /v1/webhooks?\x01 HTTP/1.1',
    ' GET /v1/webhooks HTTP/1.1',
    'PRI * HTTP/2.0',
  ].map((line): Shape => [
    `the request line ${JSON.stringify(line)}`,
    () => lines(line, 'Host: x', credentials()) + hidden(),
  ]),
  ['a request of HTTP/0.9', () => `GET /v1/webhooks${CRLF}${hidden()}`],
  ['a request of HTTP/0.9 and a blank line', () => `GET /v1/webhooks${CRLF}${CRLF}${hidden()}`],
  ['the preface of HTTP/2', () => `PRI * HTTP/2.0${CRLF}${CRLF}SM${CRLF}${CRLF}${hidden()}`],
  [
    'chunks in HTTP/1.0',
    () => list('Transfer-Encoding: chunked').replace('HTTP/1.1', 'HTTP/1.0') + inChunk(),
  ],
];

it('executes a second request on the same connection, which these tests rely on', async () => {
  const before = await made();
  const second = hidden().replace('Host: x', 'Host: x\r\nConnection: close');
  const answers = await allAnswers(list() + second);
  expect(answers.map(({ status }) => status)).toEqual([200, 200]);
  expect(await made()).toBe(before + 1);
});

describe.each<[kind: string, shapes: Shape[]]>([
  ['lengths', LENGTHS],
  ['codings', CODINGS],
  ['repeated headers', TWICE],
  ['header lines', FIELD_LINES],
  ['chunks', CHUNKS],
  ['request lines', REQUEST_LINES],
])('ambiguous %s', (_, shapes) => {
  it.each(shapes)(
    '%s is answered once, with 400, and nothing behind it is executed',
    async (...row) => {
      const [, bytes] = row;
      const before = await made();
      const answers = await allAnswers(bytes());
      expect(answers.map(({ status }) => status)).toEqual([400]);
      expectProblem(answers[0]!, { status: 400, code: 'malformed_json' });
      expect(answers[0]!.headers['connection']).toBe('close');
      expect(await made()).toBe(before);
    },
  );
});

describe('a request', () => {
  it('inside an unread body is not executed', async () => {
    const before = await made();
    const text = hidden();
    const close = 'Connection: close';
    for (const bytes of [
      list(close, `Content-Length: ${text.length}`) + text,
      list(close, 'Transfer-Encoding: chunked') + inChunk(),
    ]) {
      expect((await allAnswers(bytes)).map(({ status }) => status)).toEqual([200]);
    }
    expect(await made()).toBe(before);
  });

  it('behind one that closes the connection is not executed', async () => {
    const before = await made();
    const answers = await allAnswers(list('Connection: close') + hidden());
    expect(answers[0]!.status).toBe(200);
    expect(await made()).toBe(before);
  });

  it('behind an ambiguous one is not executed', async () => {
    const before = await made();
    const answers = await allAnswers(list('Host: y') + hidden());
    expect(answers.map(({ status }) => status)).toEqual([400]);
    expect(await made()).toBe(before);
  });

  it('on a connection that is closing is not executed', async () => {
    const before = await made();
    const { hostname, port } = new URL(api.url);
    // Half-open, so that the request can be sent after the server has ended its side.
    const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
    let received = '';
    socket.setEncoding('utf8').on('data', (text: string) => (received += text));
    socket.write(lines('GET /v1/webhooks HTTP/1.1', 'Host: x', 'Host: y'));
    await once(socket, 'end');
    socket.end(hidden());
    await once(socket, 'close');
    expect(answersIn(received)).toHaveLength(1);
    expect(await made()).toBe(before);
  });

  it.each([
    ['GET http://X/v1/webhooks HTTP/1.1', 'Host: x'],
    ['GET http://x:80/v1/webhooks HTTP/1.1', 'Host: x'],
    ['GET https://bob:secret@x/v1/webhooks HTTP/1.1', 'Host: x:443'],
    ['GET http://x/v1/webhooks HTTP/1.0', 'X-Y: z'],
  ])('of %s with %s is not ambiguous, and is answered', async (line, header) => {
    const answers = await allAnswers(lines(line, header, credentials(), 'Connection: close'));
    expect(answers.map(({ status }) => status)).toEqual([200]);
  });
});
