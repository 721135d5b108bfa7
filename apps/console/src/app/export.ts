import { answerOf, api } from './api.js';
import { type ExportFormat, RecordCounter } from './records.js';

/** The API ends a file after this many records. */
export const MOST_RECORDS = 100_000;

const TYPES: Record<ExportFormat, string> = { csv: 'text/csv', ndjson: 'application/x-ndjson' };

/** The lists that can be exported. */
export type ExportedPath = '/v1/events' | '/v1/deliveries' | '/v1/audit';

/** Where a further file begins. */
const ID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/;

/** A part of a list as a file. */
interface Exported {
  file: Blob;
  count: number;
  /** The id of the last record, if there may be more. */
  last: string | undefined;
}

/**
 * Reads a list as a file. A link cannot ask for it, because the type is in a header.
 * @param onCount gets the number of records so far
 */
export async function readFile(
  path: ExportedPath,
  query: Readonly<Record<string, string>>,
  format: ExportFormat,
  { signal, onCount }: { signal: AbortSignal; onCount: (count: number) => void },
): Promise<Exported> {
  const body = await answerOf(
    // All three lists can be asked like this one.
    api.GET(path as '/v1/events', {
      params: { query },
      headers: { Accept: TYPES[format] },
      parseAs: 'stream',
      signal,
    }),
  );
  const counter = new RecordCounter(format);
  const parts: Blob[] = [];
  const reader = body!.getReader();
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    counter.add(read.value);
    onCount(counter.count);
    // Not the bytes themselves: the browser keeps blobs outside of the page, and many of them on disk.
    parts.push(new Blob([read.value]));
  }
  const file = new Blob(parts, { type: TYPES[format] });
  const { count, lastAt } = counter;
  const isFull = count >= MOST_RECORDS;
  return { file, count, last: isFull ? await idAt(file, lastAt) : undefined };
}

/** The id of a record, which is its first member. */
async function idAt(file: Blob, start: number): Promise<string | undefined> {
  return ID.exec(await file.slice(start, start + 60).text())?.[0];
}

/** Time for the browser to read a file, which it may do in the background. */
const SAVED_MS = 60_000;

/** Lets the browser save a file. */
export function save(file: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(file);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), SAVED_MS);
}
