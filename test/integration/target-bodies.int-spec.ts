import { deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type RawTarget, startRawTarget } from '../support/raw-target.js';
import { aTargetClient, type TestTargetClient } from '../support/target-client.js';

const START = 'HTTP/1.1 200 OK\r\n';

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

describe('a compressed answer', () => {
  const TEXT = 'Größe: 5 €, '.repeat(10);

  it('is not asked for', async () => {
    target.answer(`${START}Content-Length: 0\r\n\r\n`);
    await client.post(target.url);
    expect(target.requests[0]).toMatch(/^accept-encoding: identity\r$/im);
  });

  it.each<[what: string, coding: string, body: Buffer]>([
    ['gzip', 'gzip', gzipSync(TEXT)],
    ['x-gzip, in capitals', 'X-GZIP', gzipSync(TEXT)],
    ['deflate', 'deflate', deflateSync(TEXT)],
    ['deflate without a frame', 'deflate', deflateRawSync(TEXT)],
    ['two codings', 'deflate, identity, gzip', gzipSync(deflateSync(TEXT))],
    ['two headers', 'gzip\r\nContent-Encoding: deflate', deflateSync(gzipSync(TEXT))],
    ['no coding', '', Buffer.from(TEXT)],
    ['identity', 'identity', Buffer.from(TEXT)],
    ['gzip that is none', 'gzip', Buffer.from(TEXT)],
    ['deflate that is none', 'deflate', Buffer.from(TEXT)],
    ['a coding that is not decompressed', 'br', Buffer.from(TEXT)],
    ['a coding that is unknown', 'zstd', Buffer.from(TEXT)],
    ['a coding with the name of a method', 'constructor', Buffer.from(TEXT)],
    ['too many codings', 'gzip, gzip, gzip, gzip', Buffer.from(TEXT)],
  ])('is shown as text: %s', async (_, coding, body) => {
    const head = `${START}Content-Encoding: ${coding}\r\nContent-Length: ${body.length}\r\n\r\n`;
    target.answer(Buffer.concat([Buffer.from(head), body]));
    const shown = await client.post(target.url);
    expect(shown).toMatchObject({ status: 200, responseBody: TEXT, truncated: false });
    expect(shown.responseHeaders).toHaveProperty('content-encoding');
  });

  /** The answer to a body that is sent whole, or whose connection then ends. */
  async function shown(coding: string, body: Buffer, length = body.length) {
    target.answering = (socket) => {
      socket.write(`${START}Content-Encoding: ${coding}\r\nContent-Length: ${length}\r\n\r\n`);
      socket.end(body);
    };
    return client.post(target.url);
  }

  const LINES = Array.from({ length: 2_000 }, (_, n) => `${n * n} `).join('');

  it.each<[coding: string, body: Buffer]>([
    ['gzip', gzipSync(LINES)],
    ['deflate', deflateSync(LINES)],
    ['deflate', deflateRawSync(LINES)],
  ])('that breaks off is shown up to the break: %s', async (coding, body) => {
    const { responseBody = '', truncated } = await shown(coding, body.subarray(0, 1_500), 9_000);
    expect(responseBody.length).toBeGreaterThan(1_000);
    expect(LINES.startsWith(responseBody)).toBe(true);
    expect(truncated).toBe(true);
  });

  const ZEROS = Buffer.alloc(32 << 20, '0');

  it.each<[coding: string, body: Buffer]>([
    ['gzip', gzipSync(ZEROS)],
    ['deflate', deflateSync(ZEROS)],
    ['gzip, gzip', gzipSync(gzipSync(ZEROS))],
  ])('that would fill the memory is cut after 4 KiB: %s', async (coding, body) => {
    const { responseBody, truncated } = await shown(coding, body);
    expect([responseBody, truncated]).toEqual(['0'.repeat(4_096), true]);
  });
});

describe('the charset of an answer', () => {
  const utf16 = Buffer.from('\ufeffgrün', 'utf16le');

  it.each<[type: string, body: Buffer, text: string]>([
    ['text/plain; charset=iso-8859-1', Buffer.from('gr\xfcn', 'latin1'), 'grün'],
    ['text/plain;charset="ISO-8859-15"', Buffer.from('5 \xa4', 'latin1'), '5 €'],
    ['text/html; a=b; Charset = windows-1252', Buffer.from('5 \x80', 'latin1'), '5 €'],
    ['text/plain; charset=shift_jis', Buffer.from('\x83\x65\x83\x58\x83\x67', 'latin1'), 'テスト'],
    ['text/plain; charset=utf-16le', Buffer.from('grün', 'utf16le'), 'grün'],
    ['application/json; charset=UTF8', Buffer.from('grün'), 'grün'],
    ['text/plain', Buffer.from('grün'), 'grün'],
    ['text/plain; charset=unheard-of', Buffer.from('grün'), 'grün'],
    ['text/plain; charset=', Buffer.from('grün'), 'grün'],
    ['text/plain', Buffer.from('gr\xfcn', 'latin1'), 'gr\ufffdn'],
    // A byte order mark counts more than the header, and is not part of the text.
    ['text/plain', Buffer.from('\ufeffgrün'), 'grün'],
    ['text/plain; charset=iso-8859-1', Buffer.from('\ufeffgrün'), 'grün'],
    ['text/plain', utf16, 'grün'],
    ['text/plain', Buffer.from(utf16).swap16(), 'grün'],
    // Half of a pair, and U+0000: neither can be stored.
    ['text/plain; charset=utf-16le', Buffer.from('a\ud83d!\0b', 'utf16le'), 'a\ufffd!\ufffdb'],
    ['application/octet-stream', Buffer.from('\x89PNG\0\xff', 'latin1'), '\ufffdPNG\ufffd\ufffd'],
  ])('is honoured: %s', async (type, body, text) => {
    const head = `${START}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n`;
    target.answer(Buffer.concat([Buffer.from(head), body]));
    expect((await client.post(target.url)).responseBody).toBe(text);
  });

  it.each([
    ['utf-8', Buffer.from('ü'.repeat(3_000)).subarray(1), '\ufffd', 'ü'],
    ['utf-16le', Buffer.from(`x${'😀'.repeat(2_000)}`, 'utf16le'), 'x', '😀'],
  ])(
    'does not leave half a character where the text is cut: %s',
    async (charset, body, first, each) => {
      const head = `${START}Content-Type: text/plain; charset=${charset}\r\n\r\n`;
      target.answering = (socket) => socket.end(Buffer.concat([Buffer.from(head), body]));
      for (let times = 0; times < 2; times += 1) {
        const { responseBody = '', truncated } = await client.post(target.url);
        expect(truncated).toBe(true);
        expect(responseBody.replaceAll(each, '')).toBe(first);
      }
    },
  );

  it('is honoured in a compressed answer', async () => {
    const body = gzipSync(Buffer.from('gr\xfcn', 'latin1'));
    const head = `${START}Content-Type: text/plain; charset=latin1\r\nContent-Encoding: gzip\r\n`;
    target.answer(
      Buffer.concat([Buffer.from(`${head}Content-Length: ${body.length}\r\n\r\n`), body]),
    );
    expect((await client.post(target.url)).responseBody).toBe('grün');
  });
});
