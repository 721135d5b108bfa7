import { stringEnd } from './json-members.js';

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/**
 * The index at which a JSON text first nests objects and arrays more than `levels` deep; -1 if it never
 * does. For most texts the number of brackets decides this, in a fraction of a microsecond.
 */
export function tooDeepAt(json: string, levels: number): number {
  if (occurrences(json, '{', levels) + occurrences(json, '[', levels) <= levels) return -1;
  let depth = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(json, at) - 1;
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > levels) return at;
    }
  }
  return -1;
}

/** How often a character occurs, strings included; stops counting at `most` + 1. */
function occurrences(text: string, character: string, most: number): number {
  let count = 0;
  for (let at = text.indexOf(character); at >= 0; at = text.indexOf(character, at + 1)) {
    count += 1;
    if (count > most) break;
  }
  return count;
}

/**
 * The index at which a JSON text first has more than `most` values, counting members and elements at
 * every depth; -1 if it never does. An empty object or array counts as two. The text need not be valid,
 * because this runs before it is parsed.
 */
export function tooManyValuesAt(json: string, most: number): number {
  // Each value takes a bracket or a comma, and most take another character.
  if (json.length <= most) return -1;
  let count = 0;
  for (let at = 0; at < json.length; at += 1) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = stringEnd(json, at) - 1;
    else if (code === COMMA || code === OPEN_BRACE || code === OPEN_BRACKET) {
      count += 1;
      if (count > most) return at;
    }
  }
  return -1;
}
