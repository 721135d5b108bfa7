import type { IncomingHttpHeaders } from 'node:http';

/** The answer is not HTTP/1, its length is invalid, or its head, interim answers or trailers are too long. */
export class AnswerError extends Error {
  readonly code = 'EANSWER';

  constructor() {
    super('the answer is not HTTP/1, or is too long');
  }
}

const VALUE = '[^\\0-\\x08\\n-\\x1f\\x7f]*';
const FIELD = `(?!content-length:|transfer-encoding:)[!#$%&'*+.^_\`|~\\w-]+:${VALUE}\\r\\n`;
const FRAMING = '(?:content-length: ?\\d{1,15}|transfer-encoding: ?chunked)\\r\\n';
/** Heads that undici's parser understands unchanged: nearly all. */
const PLAIN = new RegExp(
  `^HTTP/1\\.1 [2-9]\\d\\d(?: ${VALUE})?\\r\\n(?:${FIELD})*(?:${FRAMING}(?:${FIELD})*)?\\r\\n$`,
  'i',
);
/** Any blanks may separate the words (RFC 9112, section 4), and any minor version is compatible. */
const STATUS_LINE = /^HTTP\/1\.(\d)[\t ]+([1-9]\d\d)(?:[\t ]|$)/;
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const CONNECTION = /^(?:(?:proxy-)?connection|keep-alive)$/;
const MAX_LENGTH_DIGITS = 15;
/** The limit for lists of lengths or codings. */
const MAX_MEMBERS = 64;
const TAB = 0x09;
const LF = 0x0a;
const CR = 0x0d;
const BLANK = 0x20;
const DEL = 0x7f;
/** Precedes the names of headers that undici must not interpret. */
const RECEIVED = 'switchhook-received-';

/** A header. Its value is in parts if it came in folded lines. */
interface Field {
  /** In lower case. */
  name: string;
  parts: string[];
}

/**
 * Reads the head of an answer as leniently as RFC 9112 allows, and rewrites it for undici's strict parser:
 * unfolds lines and ends them with CRLF, replaces control characters, drops lines that are not headers, and
 * states the length of the body once. If others could read another length, the connection is not reused.
 * Heads of interim answers stay unchanged.
 * @param head from the status line to the empty line, both included
 * @throws AnswerError
 */
export function normalizedHead(head: Buffer): { status: number; bytes: Buffer } {
  const text = head.toString('latin1');
  if (PLAIN.test(text)) return { status: Number(text.slice(9, 12)), bytes: head };
  const { lines, isClean } = linesOf(head);
  const [statusLine = '', ...others] = lines;
  const [, minor, status] = STATUS_LINE.exec(statusLine) ?? [];
  if (status === undefined) throw new AnswerError();
  if (status.startsWith('1')) return { status: Number(status), bytes: head };
  const isOld = minor === '0';
  const { fields, isExact } = fieldsOf(others);
  const { framing, isClear } = framingOf(fields, { isOld, status });
  const isReusable = isClean && isExact && isClear;
  const shown = fields.map(({ name, parts }) => {
    const isHidden = isFraming(name) || (!isReusable && CONNECTION.test(name));
    return `${isHidden ? RECEIVED : ''}${name}: ${parts.join(' ')}\r\n`;
  });
  // Without a Connection header, undici closes connections of HTTP/1.0.
  const version = isReusable && !isOld ? '1.1' : '1.0';
  const rewritten = `HTTP/${version} ${status} \r\n${shown.join('')}${framing}\r\n`;
  return { status: Number(status), bytes: Buffer.from(rewritten, 'latin1') };
}

/** Restores the headers that the target sent, from those that undici read in a plain head. */
export function restoredHeaders(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  if (!Object.keys(headers).some((name) => name.startsWith(RECEIVED))) return headers;
  const received: IncomingHttpHeaders = {};
  // Our own headers come last, and received ones have precedence.
  for (const name in headers) received[name.replace(RECEIVED, '')] ??= headers[name];
  return received;
}

/**
 * The lines of a head, with blanks in place of control characters (RFC 9110, section 5.5).
 * @returns isClean: whether there were none, and each line that is not continued ends with CRLF
 */
function linesOf(head: Buffer): { lines: string[]; isClean: boolean } {
  const bytes = Buffer.from(head);
  let isClean = true;
  for (let index = 0; index < head.length; index += 1) {
    const byte = head[index]!;
    if (byte === LF) {
      const next = head[index + 1];
      isClean &&= head[index - 1] === CR || next === BLANK || next === TAB;
    } else if ((byte < BLANK && byte !== TAB) || byte === DEL) {
      bytes[index] = BLANK;
      isClean &&= byte === CR && head[index + 1] === LF;
    }
  }
  return { lines: bytes.toString('latin1').split('\n'), isClean };
}

/** @returns isExact: whether every line is a header or continues one */
function fieldsOf(lines: readonly string[]): { fields: Field[]; isExact: boolean } {
  const fields: Field[] = [];
  let last: Field | undefined;
  let isExact = true;
  for (const line of lines) {
    const text = trimmed(line);
    if (text === '') continue;
    if (isBlank(line, 0)) {
      // After a line that is not a header, it is ignored as well (RFC 9112, section 2.2).
      last?.parts.push(text);
      isExact &&= last !== undefined;
      continue;
    }
    const colon = text.indexOf(':');
    const name = trimmed(text.slice(0, Math.max(colon, 0)));
    isExact &&= name.length === colon;
    last = undefined;
    if (!TOKEN.test(name)) {
      isExact = false;
      continue;
    }
    const value = trimmed(text.slice(colon + 1));
    last = { name: name.toLowerCase(), parts: value === '' ? [] : [value] };
    fields.push(last);
  }
  return { fields, isExact };
}

/**
 * How long the body is (RFC 9112, section 6.3), as a header; empty if it ends with the connection.
 * @returns isClear: whether every recipient reads it like this
 * @throws AnswerError
 */
function framingOf(
  fields: readonly Field[],
  { isOld, status }: { isOld: boolean; status: string },
): { framing: string; isClear: boolean } {
  const codings = listOf(fields, 'transfer-encoding');
  const lengths = listOf(fields, 'content-length');
  if (status === '204' || status === '304') return { framing: '', isClear: !(codings ?? lengths) };
  if (codings) {
    const isChunked = codings.at(-1)?.toLowerCase() === 'chunked';
    const framing = isChunked ? 'transfer-encoding: chunked\r\n' : '';
    return { framing, isClear: codings.length === 1 && !lengths && !isOld };
  }
  const [length, ...others] = new Set(lengths?.map((each) => each.replace(/^0+(?=\d)/, '')));
  if (length === undefined) return { framing: '', isClear: true };
  if (others.length > 0 || !/^\d+$/.test(length)) throw new AnswerError();
  // Such a body is never read to its end.
  const isHuge = length.length > MAX_LENGTH_DIGITS;
  const value = isHuge ? '9'.repeat(MAX_LENGTH_DIGITS) : length;
  return { framing: `content-length: ${value}\r\n`, isClear: !isHuge };
}

/** The members of a header that is a list; undefined without such a header. @throws AnswerError */
function listOf(fields: readonly Field[], name: string): string[] | undefined {
  const found = fields.filter((field) => field.name === name);
  if (found.length === 0) return undefined;
  const list = found.map(({ parts }) => parts.join(' ')).join();
  const members = list.split(',', MAX_MEMBERS + 1).map(trimmed);
  if (members.length > MAX_MEMBERS) throw new AnswerError();
  return members.filter((member) => member !== '');
}

function isFraming(name: string): boolean {
  return name === 'content-length' || name === 'transfer-encoding';
}

/** Without surrounding blanks. `trim` would also remove bytes of UTF-8, and a pattern would be quadratic. */
function trimmed(text: string): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text, start)) start += 1;
  while (end > start && isBlank(text, end - 1)) end -= 1;
  return text.slice(start, end);
}

function isBlank(text: string, index: number): boolean {
  return text[index] === ' ' || text[index] === '\t';
}
