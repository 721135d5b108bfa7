import fc from 'fast-check';
import { expect, it } from 'vitest';
import { AnswerError, normalizedHead } from './normalize-head.js';

const head = (rest: string) => Buffer.from(`HTTP/1.1 200 OK\r\n${rest}\r\n`, 'latin1');

it('leaves a plain head as it is', () => {
  const plain = head('Server: a\r\nContent-Length: 2\r\nX: \xe9\r\n');
  expect(normalizedHead(plain)).toEqual({ status: 200, bytes: plain });
  expect(normalizedHead(plain).bytes).toBe(plain);
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
      normalizedHead(bytes);
    } catch {
      // Refusing it must be quick as well.
    }
    return performance.now() - start;
  });
  expect(Math.min(...times)).toBeLessThan(20);
});

const PIECES = [
  ...[
    'X: a\r\n',
    'X : a\r\n',
    'X: a\n',
    'X\n',
    ': a\r\n',
    ' a\r\n',
    '\ta\n',
    '\r\r\n',
    ' ',
    ':',
    'a',
    '\r',
  ],
  ...[
    'Content-Length: 2',
    'content-length:3\r\n',
    'Transfer-Encoding: chunked',
    'TRANSFER-ENCODING:\r\n',
  ],
  ...['Connection: keep-alive\r\n', ',', ', 2', 'gzip', '\0', '\x7f', '\xe9', '\t', '\n ', '\r\n '],
];
const FIELD = /^[!#$%&'*+.^_`|~\w-]+:[\t -~\x80-\xff]*$/;

it('either refuses a head, or makes one of it that a strict parser accepts', () => {
  const rest = fc
    .array(fc.constantFrom(...PIECES), { maxLength: 20 })
    .map((pieces) => pieces.join(''));
  const start = fc.constantFrom(
    'HTTP/1.1 200 OK',
    'HTTP/1.0 500',
    'HTTP/1.1 204 ',
    'HTTP/1.7\t404\tX',
  );
  fc.assert(
    fc.property(start, rest, (line, text) => {
      let plain: string;
      try {
        plain = normalizedHead(Buffer.from(`${line}\r\n${text}\r\n\r\n`, 'latin1')).bytes.toString(
          'latin1',
        );
      } catch (error) {
        expect(error).toBeInstanceOf(AnswerError);
        return;
      }
      const [status, ...fields] = plain.split('\r\n');
      expect(status).toMatch(/^HTTP\/1\.[01] [2-9]\d\d [\w]*$/);
      expect(fields.splice(-2)).toEqual(['', '']);
      for (const field of fields) expect(field).toMatch(FIELD);
      const framing = fields.filter((field) =>
        /^(?:content-length|transfer-encoding):/i.test(field),
      );
      expect(framing.length).toBeLessThan(2);
      for (const each of framing) expect(each).toMatch(/: ?(?:\d{1,15}|chunked)$/i);
    }),
    { numRuns: 2_000 },
  );
});
