import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { rawElements } from '#libs/kernel';
import { CommandFailure } from '../failure.js';

/** An event in a file. */
export interface FileEvent {
  /** Its place for people: `line 3` if each line of the file has an event, else `event 3`. */
  place: string;
  /** As it is written in the file. */
  text: string;
  /** What it is about, as far as the file says. */
  event: string;
  resource: string;
}

/**
 * The events of a file: a JSON object, an array of them, or an object on each line.
 * @param file a path, or `-` for standard input
 * @throws CommandFailure
 */
export async function readEvents(file: string): Promise<FileEvent[]> {
  const text = await readText(file);
  const whole = parsed(text);
  const isOnLines = whole === undefined;
  const texts = Array.isArray(whole) ? rawElements(text) : isOnLines ? text.split('\n') : [text];
  const events = texts
    .map((one, index) => ({ one, place: `${isOnLines ? 'line' : 'event'} ${index + 1}` }))
    .filter(({ one }) => one.trim() !== '');
  if (events.length === 0) throw new CommandFailure(`There is no event in ${nameOf(file)}.`);
  return events.map(({ one, place }) => {
    const value = parsed(one);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new CommandFailure(`In ${nameOf(file)}, ${place} is no JSON object.`);
    }
    const { event, resource } = value as { event?: unknown; resource?: unknown };
    return { place, text: one, event: word(event), resource: word(resource) };
  });
}

async function readText(file: string): Promise<string> {
  let bytes: Buffer;
  try {
    bytes = await (file === '-' ? buffer(process.stdin) : readFile(file));
  } catch (error) {
    throw new CommandFailure(`${file} cannot be read (${(error as NodeJS.ErrnoException).code}).`);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new CommandFailure(`The text in ${nameOf(file)} is not UTF-8.`);
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The API says what is wrong with another value. */
function word(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}

function nameOf(file: string): string {
  return file === '-' ? 'standard input' : file;
}
