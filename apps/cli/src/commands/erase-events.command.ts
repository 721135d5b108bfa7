import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import { type ApiConnection, apiOf } from '../api/api-connection.js';
import { addApiCommand, type Options, withAccount } from '../command.js';
import { readText } from '../input.js';
import { complain, print } from '../output.js';
import { progressLine } from '../progress-line.js';
import { stopSignal } from '../stop-signal.js';

const POLL_MS = 500;

interface EraseOptions extends Options {
  textFile: string;
  since?: string;
  until?: string;
  dryRun?: true;
  wait?: true;
}

/** `events erase` */
export function addEraseEventsCommand(events: Command): void {
  withAccount(
    addApiCommand(
      events,
      'erase',
      'empty the data of all events that contain a text',
      '--text-file number.txt --dry-run',
    ),
  )
    // An argument would stay in the history of the shell.
    .requiredOption('--text-file <file>', 'file that has the text, - for standard input')
    .option('--since <time>', 'accepted at this time or later, such as 2027-01-31T12:00:00Z')
    .option('--until <time>', 'accepted before this time (default: now)')
    .option('--dry-run', 'only count the events')
    .option('--wait', 'wait until all events have been searched')
    .action(erase);
}

async function erase(options: EraseOptions, command: Command): Promise<void> {
  const { account: accountId, since, until, dryRun, wait, textFile } = options;
  if (dryRun && wait) command.error('error: --dry-run and --wait exclude each other');
  if (textFile === '-' && options.passwordStdin) {
    command.error('error: --text-file - and --password-stdin both read standard input');
  }
  // Registered first, so that Ctrl-C never leaves the erasure unnamed.
  const stopped = wait && stopSignal();
  const api = await apiOf(options, command);
  const contains = (await readText(textFile)).replace(/\r?\n$/, '');
  const body = JSON.stringify({ contains, accountId, since, until, dryRun });
  const { text } = await api.ask('POST', 'v1/erasures', body);
  if (dryRun) {
    const { events, producerIds } = JSON.parse(text) as Schemas['ErasureCount'];
    print(options, text, `found in ${eventsOf(events)} and ${keysOf(producerIds)}`);
    return;
  }
  const started = JSON.parse(text) as Schemas['Address'];
  if (stopped) await waitFor(api, idOf(started), options, stopped);
  else print(options, text, `started erasure ${idOf(started)}: ${started.href}`);
}

async function waitFor(
  api: ApiConnection,
  id: string,
  options: Options,
  stopped: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => stopped.aborted;
  for (;;) {
    const { text } = await api.ask('GET', `v1/erasures/${id}`);
    const { state, searchedTo, events, producerIds, deliveries } = JSON.parse(
      text,
    ) as Schemas['Erasure'];
    if (state === 'completed') {
      progressLine.clear();
      const cancelled = `${deliveries} waiting ${deliveries === 1 ? 'delivery' : 'deliveries'} cancelled`;
      print(options, text, `erased ${eventsOf(events)} and ${keysOf(producerIds)}, ${cancelled}`);
      return;
    }
    progressLine.show(`${eventsOf(events)} … searched to ${searchedTo ?? 'nothing yet'}`);
    await sleep(POLL_MS, undefined, { signal: stopped }).catch(() => undefined);
    if (isStopped()) {
      progressLine.clear();
      complain(`Erasure ${id} continues.`);
      return;
    }
  }
}

const eventsOf = (count: number): string => `${count} ${count === 1 ? 'event' : 'events'}`;
const keysOf = (count: number): string =>
  `${count} ${count === 1 ? 'key of a producer' : 'keys of producers'}`;
