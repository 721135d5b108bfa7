import { once } from 'node:events';
import { createReadStream } from 'node:fs';
import { type FileHandle, open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type Command, Option } from 'commander';
import { type ApiConnection, apiOf, withApiOptions } from '../api/api-connection.js';
import { queryOf } from '../api/lists.js';
import { wholeNumber } from '../arguments.js';
import type { Options } from '../command.js';
import { CommandFailure } from '../failure.js';
import { plural, printable } from '../output.js';
import { stopSignal } from '../stop-signal.js';
import { type ExportFormat, isRecordOf, RecordSplitter } from './records.js';
import { ExportProgress } from './export-progress.js';

/** The API's limit of an export; the next request continues after it. */
const MAX_LINES = 100_000;
const MAX_LIMIT = 999_999_999;
/** How long a search may find nothing. */
const SILENCE_MS = 300_000;
const TYPES: Record<ExportFormat, string> = {
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
};

export interface ExportOptions extends Options {
  output?: string;
  format?: ExportFormat;
  resume?: true;
  limit: number;
}

/** Adds the options of an export. */
export function withExportOptions(command: Command): Command {
  return withApiOptions(command, 'account')
    .option('--since <time>', 'from this time on, such as 2027-01-31T12:00:00Z')
    .option('--until <time>', 'before this time')
    .option('-o, --output <file>', 'write this file (default: standard output)')
    .addOption(
      new Option(
        '--format <format>',
        'one JSON object per line, or CSV (default: csv if the name of the file ends in .csv)',
      ).choices(Object.keys(TYPES)),
    )
    .option('--resume', 'continue after the last complete line of the file')
    .addOption(
      new Option('--limit <n>', 'at most this many')
        .argParser(wholeNumber(1, MAX_LIMIT))
        .default(MAX_LIMIT, 'all'),
    );
}

/** What is exported: its path, and the filters. */
interface Exported {
  path: string;
  /** Their name for people: of one, and of many. */
  things: readonly [one: string, many: string];
  filters: Readonly<Record<string, string | undefined>>;
}

/** Exports a list, request by request. Wrong options end the command. */
export async function exportList(
  { path, things, filters }: Exported,
  options: ExportOptions,
  command: Command,
): Promise<void> {
  const { output, resume = false, limit, since } = options;
  if (resume && output === undefined) command.error('error: --resume needs --output');
  const format = options.format ?? (output?.endsWith('.csv') ? 'csv' : 'ndjson');
  const api = await apiOf(options, command);
  const signal = stopSignal();
  const fits = resume ? await columnsOf(api, { path, filters }, format, signal) : undefined;
  const target = await Target.open(output, format, fits);
  const progress = new ExportProgress(things, since, options);
  try {
    for (let isMore = true; isMore && target.count < limit;) {
      const most = Math.min(limit - target.count, MAX_LINES);
      const query = queryOf({ ...filters, limit: String(most), after: target.lastId });
      const before = target.count;
      await copy(await opened(api, path + query, format, signal), target, progress);
      isMore = target.count - before === most;
    }
  } catch (error) {
    progress.clear();
    // An empty file would be in the way of the corrected command.
    if (output !== undefined && !resume && target.count === 0) await rm(output);
    if (output === undefined || error instanceof CommandFailure) throw error;
    const cause = signal.aborted ? 'was stopped' : 'ended early';
    throw new CommandFailure(
      `The export ${cause} after ${target.count} ${plural(target.count, ...things)}: --resume continues after them.`,
    );
  } finally {
    await target.close();
  }
  progress.end(target.count, output);
}

/** Tells whether the first line of a file is one that this export would write. */
async function columnsOf(
  api: ApiConnection,
  { path, filters: { include } }: Pick<Exported, 'path' | 'filters'>,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<FitsLine> {
  if (format === 'ndjson') return (line) => isRecordOf(line, path, include);
  const query = `${path}${queryOf({ include, limit: '1' })}`;
  const rows = await text(await opened(api, query, format, signal));
  return (line) => rows.startsWith(line);
}

type FitsLine = (line: string) => boolean;

function opened(
  api: ApiConnection,
  path: string,
  format: ExportFormat,
  signal: AbortSignal,
): Promise<Readable> {
  const headers = { accept: TYPES[format], prefer: 'handling=strict' };
  return api.open(path, headers, signal, SILENCE_MS);
}

async function copy(body: Readable, target: Target, progress: ExportProgress): Promise<void> {
  const records = new RecordSplitter(target.format);
  for await (const chunk of body) {
    await target.write(records, chunk as Buffer);
    progress.show(target.count, target.lastId);
  }
}

/** Where an export goes. It ends with a complete record at any time. */
class Target {
  count = 0;
  lastId: string | undefined;
  private hasHeader = false;

  private constructor(
    readonly format: ExportFormat,
    private readonly file: FileHandle | undefined,
  ) {}

  /**
   * @param fits whether a file that begins with this line is continued; without it, no file is
   * @throws CommandFailure if the file exists and is not to be continued, or cannot be written
   */
  static async open(
    output: string | undefined,
    format: ExportFormat,
    fits: FitsLine | undefined,
  ): Promise<Target> {
    if (output === undefined) return new Target(format, undefined);
    const file = await open(output, fits ? 'a' : 'ax').catch((error: unknown) => {
      const { code } = error as NodeJS.ErrnoException;
      const why =
        code === 'EEXIST' ? 'exists: --resume continues it' : `cannot be written (${code})`;
      throw new CommandFailure(`${output} ${why}.`);
    });
    const target = new Target(format, file);
    if (fits) await target.continue(output, fits);
    return target;
  }

  private async continue(output: string, fits: FitsLine): Promise<void> {
    // Others, such as /dev/zero, may never end.
    if (!(await this.file!.stat()).isFile()) {
      throw new CommandFailure(`${output} is not a regular file.`);
    }
    const records = new RecordSplitter(this.format);
    for await (const chunk of createReadStream(output)) records.add(chunk as Buffer);
    if (records.count > 0 && records.lastId === undefined) {
      throw new CommandFailure(`${output} is no export in the format ${this.format}.`);
    }
    if (!fits(records.beginning)) {
      throw new CommandFailure(
        `${output} has other columns; repeat the options of the first export.`,
      );
    }
    // A line that was not written to its end.
    await this.file!.truncate(records.bytes);
    this.count = records.count;
    this.lastId = records.lastId;
    this.hasHeader = records.bytes > 0;
  }

  async write(records: RecordSplitter, chunk: Buffer): Promise<void> {
    const before = records.count;
    const { header, rows } = records.add(chunk);
    const bytes = this.hasHeader ? rows : Buffer.concat([header, rows]);
    if (header.length > 0) this.hasHeader = true;
    if (bytes.length === 0) return;
    if (this.file) await this.file.appendFile(bytes);
    else await toStandardOutput(bytes);
    this.count += records.count - before;
    this.lastId = records.lastId ?? this.lastId;
  }

  async close(): Promise<void> {
    await this.file?.close();
  }
}

async function toStandardOutput(bytes: Buffer): Promise<void> {
  const isWritten = process.stdout.write(
    process.stdout.isTTY ? printable(bytes.toString()) : bytes,
  );
  if (!isWritten) await once(process.stdout, 'drain');
}
