import { expect, it } from 'vitest';
import { plainHead } from './plain-head.js';

const head = (rest: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${rest}\r\n`, 'latin1');

it('leaves a plain head as it is', () => {
  const plain = head('Server: a\r\nContent-Length: 2\r\nX: \xe9\r\n');
  expect(plainHead(plain)).toEqual({ status: 200, bytes: plain });
  expect(plainHead(plain).bytes).toBe(plain);
});

it.each([
  ['folded lines', `X: a\r\n${' b\r\n'.repeat(250)}`],
  ['blanks', `X: a${' '.repeat(60_000)}b\r\n c\r\n`],
  ['tabs at the end', `X: a${'\t'.repeat(60_000)}\r\n c\r\n`],
  ['control characters', `X: ${'\r\x01'.repeat(30_000)}\r\n`],
  ['commas', `Content-Length: 2${','.repeat(60_000)}\r\n`],
  ['zeros', `Content-Length: ${'0'.repeat(60_000)}x\r\n`],
  ['a long name', `${'x'.repeat(60_000)}\r\n`],
  ['lines that are plain but for the last', `${`X: ${'a'.repeat(240)}\r\n`.repeat(250)}X\r\n`],
  ['codings', 'Transfer-Encoding: a\r\n'.repeat(250)],
])('reads a head of 60 KB without quadratic work: %s', (_, rest) => {
  const bytes = head(rest);
  // The shortest of some times, because the machine may be busy. All take less than 1 ms.
  const times = Array.from({ length: 10 }, () => {
    const start = performance.now();
    try {
      plainHead(bytes);
    } catch {
      // Refusing it must be quick as well.
    }
    return performance.now() - start;
  });
  expect(Math.min(...times)).toBeLessThan(20);
});
