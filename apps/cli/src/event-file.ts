import { rawElements, rawMember } from '#libs/kernel';
import { CommandFailure } from './failure.js';
import { nameOf, notJson, parsed, readText } from './input.js';

/** An event in a file. */
export interface FileEvent {
  /** Its position, for messages: `line 3` if each line has an event, otherwise `event 3`. */
  place: string;
  /** The text as written in the file. */
  text: string;
  /** Event kind and resource; `?` if the file does not say. */
  event: string;
  resource: string;
}

/**
 * Reads the events of a file: a JSON object, an array of objects, the body of a batch, or one object per line.
 * @param file a path, or `-` for standard input
 * @throws CommandFailure
 */
export async function readEvents(file: string): Promise<FileEvent[]> {
  const text = await readText(file);
  const whole = parsed(text);
  const isOnLines = whole === undefined;
  const texts = isOnLines ? linesOf(file, text) : eventsOf(whole, text);
  const events = texts
    .map((one, index) => ({ one, place: `${isOnLines ? 'line' : 'event'} ${index + 1}` }))
    .filter(({ one }) => one.trim() !== '');
  if (events.length === 0) throw new CommandFailure(`There is no event in ${nameOf(file)}.`);
  return events.map(({ one, place }) => {
    const value = parsed(one);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      throw new CommandFailure(`In ${nameOf(file)}, ${place} is not a JSON object.`);
    }
    const { event, resource } = value as { event?: unknown; resource?: unknown };
    return { place, text: one, event: word(event), resource: word(resource) };
  });
}

/** The texts of the events in a JSON text. */
function eventsOf(value: unknown, text: string): string[] {
  if (Array.isArray(value)) return rawElements(text);
  const { events, event } = (value ?? {}) as { events?: unknown; event?: unknown };
  const isBatch = Array.isArray(events) && event === undefined;
  return isBatch ? rawElements(rawMember(text, 'events') ?? '[]') : [text];
}

/** @throws CommandFailure for a line that is not JSON, or for the whole text if even its first line is not */
function linesOf(file: string, text: string): string[] {
  const lines = text.split('\n');
  const faulty = lines.findIndex((line) => line.trim() !== '' && parsed(line) === undefined);
  if (faulty < 0) return lines;
  const isFirst = lines.slice(0, faulty).every((line) => line.trim() === '');
  throw notJson(nameOf(file), isFirst ? text : `${'\n'.repeat(faulty)}${lines[faulty]!}`);
}

/** The API reports other values. */
function word(value: unknown): string {
  return typeof value === 'string' ? value : '?';
}
