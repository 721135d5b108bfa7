import { parsed } from '../input.js';
import { inOneLine } from '../output.js';

/** A printed request or notification. */
export interface Arrival {
  /** `POST /path`; absent if it came from the stream. */
  request?: string;
  /** Whether the signature is genuine. */
  verdict?: string;
  outcome: string;
  headers?: NodeJS.Dict<string | string[]>;
  body?: Buffer;
}

/** The text for people: a line, and the body. */
export function arrivalText({ request = '', verdict, outcome, body }: Arrival): string {
  const time = new Date().toTimeString().slice(0, 8);
  const members = body ? stringMembers(body, ['event', 'resource', 'id']).join(' ') : '';
  const line = [time, verdict, members || request, outcome].filter(Boolean).join(' ');
  const text = body && body.length > 0 ? `\n${readableBody(body)}` : '';
  return `${inOneLine(line)}${text}`;
}

/** The object for programs. */
export function arrivalObject({ body, ...arrival }: Arrival): object {
  return { at: new Date().toISOString(), ...arrival, ...(body && { body: body.toString() }) };
}

/**
 * Formats a notification's body. Only whitespace between JSON tokens changes: large numbers, repeated keys and the
 * order stay, as the product promises.
 */
export function readableBody(body: Buffer): string {
  const text = body.toString();
  return parsed(text) === undefined ? text : indented(text);
}

/** The named members of a JSON object that are strings; none if the text is not an object. */
export function stringMembers(body: Buffer, names: readonly string[]): string[] {
  const value = parsed(body.toString());
  if (typeof value !== 'object' || value === null) return [];
  const members = new Map<string, unknown>(Object.entries(value));
  return names.map((name) => members.get(name)).filter((member) => typeof member === 'string');
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

function indented(json: string): string {
  let text = '';
  let depth = 0;
  let before = '';
  const newLine = () => `\n${'  '.repeat(depth)}`;
  for (const [token] of json.matchAll(TOKEN)) {
    const opened = before === '{' || before === '[';
    if (token === '}' || token === ']') {
      depth--;
      if (!opened) text += newLine();
    } else if (opened || before === ',') {
      text += newLine();
    } else if (before === ':') {
      text += ' ';
    }
    text += token;
    if (token === '{' || token === '[') depth++;
    before = token;
  }
  return text;
}
