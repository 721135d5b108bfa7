import { setImmediate as nextCycle } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawTarget, startRawTarget } from '../support/raw-target.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

const START = 'HTTP/1.1 200 OK\r\n';
const LENGTH = 'Content-Length: 2\r\n';
const CHUNKED = 'Transfer-Encoding: chunked\r\n';
const CHUNKS = '\r\n2\r\nok\r\n0\r\n\r\n';
const OK = `${LENGTH}\r\nok`;

let client: TestTargetClient;
let target: RawTarget;

beforeEach(async () => {
  client = aTargetClient({ DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8' });
  target = await startRawTarget();
});
afterEach(async () => {
  await client.close();
  target.close();
});

/** Sends two requests. @returns their answers, and whether they shared a connection */
async function twice() {
  const first = await client.post(target.url);
  await nextCycle();
  const second = await client.post(target.url);
  return { first, second, isReused: target.connections === 1 };
}

type Row = [what: string, answer: string, headers?: Record<string, string | string[]>];

const LENGTH_2 = { 'content-length': '2' };
const CLEAR: Row[] = [
  ['a line folded with CRLF and a blank', `X: a\r\n b\r\n${OK}`, { x: 'a b', ...LENGTH_2 }],
  ['a line folded with CRLF and a tab', `X: a\r\n\tb\r\n${OK}`, { x: 'a b', ...LENGTH_2 }],
  ['a line folded with LF and a blank', `X: a;\n    b\r\n${OK}`, { x: 'a; b', ...LENGTH_2 }],
  ['a line folded with LF and a tab', `X: a\n\tb\n\tc\r\n${OK}`, { x: 'a b c', ...LENGTH_2 }],
  ['a line folded before its value', `X:\r\n b\r\n${OK}`, { x: 'b', ...LENGTH_2 }],
  ['a line folded into blanks', `X: a\r\n  \r\n\t\r\n${OK}`, { x: 'a', ...LENGTH_2 }],
  [
    'a folded line that looks like a header',
    `X: a\r\n Y: b\r\n${OK}`,
    { x: 'a Y: b', ...LENGTH_2 },
  ],
  ['a folded last line', `${LENGTH}X: a\r\n b\r\n\r\nok`, { x: 'a b', ...LENGTH_2 }],
  ['a folded Content-Length', 'Content-Length:\r\n 2\r\n\r\nok', LENGTH_2],
  ['a folded Transfer-Encoding', `Transfer-Encoding:\r\n chunked\r\n${CHUNKS}`],
  ['the same Content-Length twice', LENGTH + OK, { 'content-length': ['2', '2'] }],
  ['Content-Length as a list', 'Content-Length: 2, 2\r\n\r\nok', { 'content-length': '2, 2' }],
  ['Content-Length with leading zeros', `Content-Length: 02\r\n${OK}`],
  ['Content-Length in a list with gaps', 'Content-Length: ,2 ,\r\n\r\nok'],
  ['blanks around Content-Length', 'Content-Length:\t 2 \t\r\n\r\nok'],
  ['a chunked body in capitals', `TRANSFER-ENCODING: CHUNKED\r\n${CHUNKS}`],
  ['bytes beyond ASCII in a value', `X: \xe9\xc3\xa9\r\n${OK}`, { x: 'é\u00c3©', ...LENGTH_2 }],
  ['a name with an underscore', `X_A: a\r\n${OK}`, { x_a: 'a', ...LENGTH_2 }],
];
const UNCLEAR: Row[] = [
  [
    'Content-Length beside Transfer-Encoding',
    LENGTH + CHUNKED + CHUNKS,
    { 'content-length': '2', 'transfer-encoding': 'chunked' },
  ],
  ['Transfer-Encoding beside Content-Length', CHUNKED + LENGTH + CHUNKS],
  ['Transfer-Encoding beside two lengths', `${CHUNKED}${LENGTH}Content-Length: 3\r\n${CHUNKS}`],
  ['Transfer-Encoding beside no length', `${CHUNKED}Content-Length: abc\r\n${CHUNKS}`],
  ['Transfer-Encoding twice', CHUNKED + CHUNKED + CHUNKS],
  ['Transfer-Encoding with a coding before', `Transfer-Encoding: identity, chunked\r\n${CHUNKS}`],
  ['a control character before chunked', `Transfer-Encoding: \x0bchunked\r\n${CHUNKS}`],
  ['a blank before the colon', `X : a\r\n${OK}`, { x: 'a', ...LENGTH_2 }],
  ['a tab before the colon of Content-Length', 'Content-Length\t: 2\r\n\r\nok'],
  ['a line without a colon', `Hello world\r\n${OK}`, LENGTH_2],
  ['a second status line', START + OK],
  ['a line without a name', `: a\r\n${OK}`, LENGTH_2],
  ['a name with a blank', `X A: a\r\n b\r\n${OK}`, LENGTH_2],
  ['a name with a slash', `X/A: a\r\n${OK}`, LENGTH_2],
  ['a name in UTF-8', `X-\xc3\xa9: a\r\n${OK}`, LENGTH_2],
  ['a name with U+0000', `X\0A: a\r\n${OK}`, LENGTH_2],
  ['U+0000 in a value', `X: a\0b\r\n${OK}`, { x: 'a b', ...LENGTH_2 }],
  ['control characters in a value', `X: \x1b[1m\x7f\r\n${OK}`, { x: '[1m', ...LENGTH_2 }],
  [
    'a bare CR in a value',
    `X: a\rContent-Length: 9\r\n${OK}`,
    { x: 'a Content-Length: 9', ...LENGTH_2 },
  ],
  ['two CRs at the end of a line', `X: a\r\r\n${OK}`, { x: 'a', ...LENGTH_2 }],
  ['a blank line before the first header', ` X: a\r\n${OK}`, LENGTH_2],
  ['one line that ends with LF', `X: a\n${OK}`, { x: 'a', ...LENGTH_2 }],
  ['a head that ends with LF', `${LENGTH}\nok`, LENGTH_2],
  ['a Connection header that asks to keep it', `X : a\r\nConnection: keep-alive\r\n${OK}`],
];

describe('an answer counts, and its connection is used again, with', () => {
  it.each(CLEAR)('%s', async (_, rest, headers) => {
    target.answer(START + rest);
    const { first, second, isReused } = await twice();
    for (const each of [first, second]) {
      expect(each).toMatchObject({ status: 200, responseBody: 'ok', truncated: false });
      if (headers) expect(each.responseHeaders).toEqual(headers);
    }
    expect(isReused).toBe(true);
  });
});

describe('an answer counts, and its connection is closed, with', () => {
  it.each(UNCLEAR)('%s', async (_, rest, headers) => {
    target.answer(START + rest);
    const { first, second, isReused } = await twice();
    for (const each of [first, second]) {
      expect(each).toMatchObject({ status: 200, responseBody: 'ok', truncated: false });
      if (headers) expect(each.responseHeaders).toEqual(headers);
    }
    expect(isReused).toBe(false);
  });

  it('LF alone after each line', async () => {
    target.answer((START + OK).replaceAll('\r\n', '\n'));
    const { first, isReused } = await twice();
    expect(first).toMatchObject({ status: 200, responseBody: 'ok', responseHeaders: LENGTH_2 });
    expect(isReused).toBe(false);
  });

  it('two CRs after each line', async () => {
    target.answer((START + LENGTH).replaceAll('\r\n', '\r\r\n') + '\r\r\nok');
    const { first, isReused } = await twice();
    expect(first).toMatchObject({ status: 200, responseBody: 'ok', responseHeaders: LENGTH_2 });
    expect(isReused).toBe(false);
  });

  it('Transfer-Encoding in HTTP/1.0', async () => {
    target.answer(`HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n${CHUNKED}${CHUNKS}`);
    const { first, isReused } = await twice();
    expect(first).toMatchObject({ status: 200, responseBody: 'ok' });
    expect(first.responseHeaders).toEqual({
      connection: 'keep-alive',
      'transfer-encoding': 'chunked',
    });
    expect(isReused).toBe(false);
  });
});

describe('a body ends with the connection with', () => {
  it.each([
    ['Transfer-Encoding: identity', ''],
    ['Transfer-Encoding: gzip', LENGTH],
    ['Transfer-Encoding: chunked, gzip', ''],
    ['Transfer-Encoding: xchunked', LENGTH],
    ['Transfer-Encoding:', LENGTH],
    ['Content-Length:', ''],
    ['Content-Length: 99999999999999999999', ''],
  ])('%s', async (header, more) => {
    target.answering = (socket) => socket.end(`${START}${more}${header}\r\n\r\nok!`);
    const { status, responseBody } = await client.post(target.url);
    expect([status, responseBody]).toEqual([200, 'ok!']);
  });
});

it.each([
  ['HTTP/1.1 200', 200],
  ['HTTP/1.1 200 ', 200],
  ['HTTP/1.1  200   OK', 200],
  ['HTTP/1.1\t200\tOK', 200],
  ['HTTP/1.1 200 \xe9\x01\0', 200],
  ['HTTP/1.2 200 OK', 200],
  ['HTTP/1.0 200 OK', 200],
  ['HTTP/1.1 600 Odd', 600],
  ['HTTP/1.1 999', 999],
  ['\r\nHTTP/1.1 200 OK', 200],
  ['\n\r\n\nHTTP/1.1 200 OK', 200],
])('reads the status line %j', async (line, status) => {
  target.answer(`${line}\r\nX: a\r\n b\r\n${OK}`);
  expect(await client.post(target.url)).toMatchObject({ status, responseBody: 'ok' });
});

it.each([
  ...['http/1.1 200 OK', 'HTTP/2.0 200 OK', 'HTTP/2 200 OK', 'HTTP/0.9 200 OK', 'HTTP/1 200 OK'],
  ...['HTTP/1.10 200 OK', 'HTTP/1.1 200OK', 'HTTP/1.1 20 OK', 'HTTP/1.1 2000 OK', 'HTTP/1.1 000'],
  ...['HTTP/1.1', 'HTTP/1.1 OK', 'ICY 200 OK', 'HTTP 200 OK', ' HTTP/1.1 200 OK', 'just a text'],
  `${'\r\n'.repeat(20)}HTTP/1.1 200 OK`,
])('refuses the status line %j', async (line) => {
  target.answer(`${line}\r\n${OK}`);
  expect(await client.post(target.url)).toMatchObject({ error: 'protocol' });
});

it.each([
  ...['2\r\nContent-Length: 3', '2, 3', '-1', '+2', '2.0', '0x2', 'abc', '2 bytes', '"2"', '2 2'],
  Array.from({ length: 100 }, () => '2').join(),
])('refuses the Content-Length %j, as RFC 9112 demands', async (value) => {
  target.answer(`${START}Content-Length: ${value}\r\n\r\nok`);
  expect(await client.post(target.url)).toMatchObject({ error: 'protocol' });
});

it('ignores any Content-Length of an answer that has no body', async () => {
  target.answer(`HTTP/1.1 204 No Content\r\nContent-Length: 2, 3\r\n\r\n`);
  const { first, second, isReused } = await twice();
  for (const each of [first, second]) expect(each).toMatchObject({ status: 204, truncated: false });
  expect(isReused).toBe(false);
});

it.each([
  'HTTP/1.1 103 Early Hints\r\nLink: a\r\n b\r\n\r\n',
  'HTTP/1.1 103 Early Hints\nLink: a\n\n',
  'HTTP/1.1 100\r\n\r\n',
  'HTTP/1.0 100 Continue\r\n\r\n',
  'HTTP/1.1 102 Processing\r\nContent-Length: 2, 3\r\n\r\n\r\n',
  'HTTP/1.1 199 Odd\r\nTransfer-Encoding: chunked\r\n\r\n',
])('skips the interim answer %j', async (interim) => {
  target.answer(interim + START + OK);
  const { first, second, isReused } = await twice();
  for (const each of [first, second]) {
    expect(each).toMatchObject({ status: 200, responseBody: 'ok', responseHeaders: LENGTH_2 });
  }
  expect(isReused).toBe(true);
});

it('refuses 101, which it did not ask for', async () => {
  target.answer('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n');
  expect(await client.post(target.url)).toMatchObject({ error: 'protocol' });
});

it.each(['HTTP/1.1 200 OK', START, `${START}${LENGTH}`, `${START}X: a\r\n b`])(
  'does not count a head that breaks off: %j',
  async (head) => {
    target.answering = (socket) => socket.end(head);
    expect(await client.post(target.url)).toMatchObject({ error: 'reset' });
  },
);

it.each([
  ['a chunk that is not in hexadecimal', `${CHUNKED}\r\nzz\r\nok\r\n0\r\n\r\n`],
  ['chunks that end with LF', `${CHUNKED}\r\n2\nok\n0\n\n`],
  ['a chunk that is longer than it says', `${CHUNKED}\r\n1\r\nok\r\n0\r\n\r\n`],
  ['no chunks', `${CHUNKED}${LENGTH}\r\nok`],
])('keeps the status of an answer whose body is broken: %s', async (_, rest) => {
  target.answering = (socket) => socket.end(START + rest);
  expect(await client.post(target.url)).toMatchObject({ status: 200, truncated: true });
});

it('reads a head that comes byte by byte', async () => {
  const bytes = `\r\nHTTP/1.1 103 Early\r\n\r\n${START}X: a\n b\r\n${OK}`;
  target.answering = (socket) => {
    const next = (at: number): void => {
      if (at < bytes.length) socket.write(bytes[at]!, () => setImmediate(next, at + 1));
    };
    socket.setNoDelay(true);
    next(0);
  };
  const { responseHeaders, ...others } = await client.post(target.url);
  expect(responseHeaders).toEqual({ x: 'a b', ...LENGTH_2 });
  expect(others).toMatchObject({ status: 200, responseBody: 'ok' });
});
