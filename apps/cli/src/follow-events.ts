import { open, readFile, rename } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { isUuid, rawElements } from '#libs/kernel';
import { type ApiConnection, RefusedFailure, UnavailableFailure } from './api/api-connection.js';
import { queryOf } from './api/lists.js';
import { CommandFailure } from './failure.js';
import { complain, printable } from './output.js';

const WAIT_S = 20;
const MAX_PAGE = 1_000;
const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 10_000;

/**
 * Prints the events of the feed until the signal, and goes on after failures that a later try may not have.
 * @param query of the feed, as of its first page
 * @param cursorFile has the cursor of what was printed, so that another call goes on there
 * @throws CommandFailure when the API refuses a request, or the file cannot be used
 */
export async function followEvents(
  api: ApiConnection,
  query: Record<string, string | undefined>,
  cursorFile: string | undefined,
  signal: AbortSignal,
): Promise<void> {
  let cursor = cursorFile === undefined ? undefined : await readCursor(cursorFile);
  let pauseMs = FIRST_PAUSE_MS;
  // Without a wait, so that its cursor is known before anything happens.
  let paging: Record<string, string> = { limit: String(MAX_PAGE) };
  const isStopped = (): boolean => signal.aborted;
  while (!isStopped()) {
    try {
      const given = { ...query, ...paging, ...(cursor !== undefined && { after: cursor }) };
      const page = await api.ask('GET', `v1/feed${queryOf(given)}`, undefined, signal);
      await write(rawElements(page.text).map(lineOf).join(''));
      cursor = cursorIn(page.next!);
      if (cursorFile !== undefined) await keepCursor(cursorFile, cursor);
      paging = { ...paging, wait: String(WAIT_S) };
      pauseMs = FIRST_PAUSE_MS;
    } catch (error) {
      if (isStopped()) return;
      if (!isTemporary(error)) throw error;
      complain(`${error.message} Trying again.`);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
      pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
    }
  }
}

function isTemporary(error: unknown): error is CommandFailure {
  if (error instanceof RefusedFailure) return error.status >= 500 || error.status === 429;
  return error instanceof UnavailableFailure;
}

/** Line breaks outside of strings are white space. */
function lineOf(event: string): string {
  return `${printable(event.replaceAll(/[\r\n]/g, ' '))}\n`;
}

/** Resolves when the reader of standard output has taken the text. */
function write(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error) => {
      if (error) reject(error);
      else resolve();
    });
  });
}

function cursorIn(address: string): string {
  return new URL(address, 'http://api').searchParams.get('after')!;
}

/** @returns the cursor in the file; undefined if there is no such file */
async function readCursor(path: string): Promise<string | undefined> {
  try {
    const cursor = (await readFile(path, 'utf8')).trim();
    if (isUuid(cursor)) return cursor;
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new CommandFailure(`${path} cannot be read (${code}).`);
  }
  throw new CommandFailure(`${path} has no cursor.`);
}

/** Replaces the file as a whole, so that it has a cursor whenever the process or the machine stops. */
async function keepCursor(path: string, cursor: string): Promise<void> {
  const written = `${path}.new`;
  try {
    const file = await open(written, 'w');
    try {
      await file.writeFile(`${cursor}\n`);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(written, path);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    throw new CommandFailure(`${path} cannot be written (${code}).`);
  }
}
