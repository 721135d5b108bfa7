import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { idOf, leftOutText, outlookText, type Schemas } from '#libs/client';
import { EVENT_KINDS } from '#libs/webhooks/domain';
import { type ApiConnection, apiOf } from './api/api-connection.js';
import { filtersOf } from './api/lists.js';
import { numericId } from './arguments.js';
import type { Options } from './command.js';
import { counted } from './delivery-text.js';
import { CommandFailure } from './failure.js';
import { complain, print } from './output.js';
import { progressLine } from './progress-line.js';
import { stopSignal } from './stop-signal.js';

type Replay = Schemas['Replay'];

const POLL_MS = 500;

export interface ReplayOptions extends Options {
  dryRun?: true;
  wait?: true;
}

/** Adds the options of commands that send many deliveries, besides `--since` and `--state`. */
export function withReplayOptions(command: Command): Command {
  return withDeliveryFilters(
    command.option('--until <time>', 'created before this time (default: now)'),
  )
    .option('--dry-run', 'only count the deliveries')
    .option('--wait', 'wait until all deliveries have been started');
}

/** Adds the filters that every list of deliveries has. */
export function withDeliveryFilters(command: Command): Command {
  return command
    .option('--webhook <id>', 'to this subscription', numericId)
    .option('--application <id>', 'of events of this application', numericId)
    .addOption(new Option('--event <kind>', 'of events of this kind').choices(EVENT_KINDS))
    .option(
      '--status <result>',
      'whose last attempt had this result, such as 404, 5xx, timeout or failed',
    );
}

/** What a replay sends: the path that starts it, and the words for what it does. */
interface Start {
  path: string;
  missed?: true;
  /** Such as `sent again`. */
  done: string;
}

/** Starts a replay, or counts what it would send. Wrong options end the command. */
export async function startReplay(
  { path, missed, done }: Start,
  options: ReplayOptions,
  command: Command,
): Promise<void> {
  if (options.dryRun && options.wait) {
    command.error('error: --dry-run and --wait exclude each other');
  }
  // Registered first, so that Ctrl-C never leaves the replay unnamed.
  const stopped = options.wait && stopSignal();
  const api = await apiOf(options, command);
  const { since, until, dryRun } = options;
  const filters = missed ? { missed, since, until } : filtersOf(options);
  const body = { ...filters, dryRun };
  const { text } = await api.ask('POST', path, JSON.stringify(body));
  if (dryRun) {
    print(options, text, countText(JSON.parse(text) as Schemas['ReplayCount'], done));
    return;
  }
  const started = JSON.parse(text) as Schemas['Address'];
  if (stopped) await wait(api, idOf(started), done, options, stopped);
  else print(options, text, `started replay ${idOf(started)}: ${started.href}`);
}

function countText(count: Schemas['ReplayCount'], done: string): string {
  const outlook = outlookText(count);
  const would = `${counted(count.deliveries)} would be ${done}${outlook ? `: ${outlook}` : ''}`;
  return [would, leftOutText(count.leftOutFor)].filter(Boolean).join('; ');
}

async function wait(
  api: ApiConnection,
  id: string,
  done: string,
  options: Options,
  stopped: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => stopped.aborted;
  for (;;) {
    const { text } = await api.ask('GET', pathOfReplay(id));
    const replay = JSON.parse(text) as Replay;
    const outlook = outlookText(replay);
    progressLine.show(
      `${replay.replayed} of ${counted(replay.total)} …${outlook ? ` ${outlook}` : ''}`,
    );
    if (replay.state !== 'running') {
      progressLine.clear();
      report(replay, text, done, options);
      return;
    }
    await sleep(POLL_MS, undefined, { signal: stopped }).catch(() => undefined);
    if (isStopped()) {
      progressLine.clear();
      complain(`Replay ${id} continues: see replays show and replays cancel.`);
      return;
    }
  }
}

function report(replay: Replay, text: string, done: string, options: Options): void {
  const { id, state, replayed, total, createdAt, completedAt } = replay;
  const ms = Date.parse(completedAt ?? createdAt) - Date.parse(createdAt);
  const time = `${(ms / 1_000).toFixed(1)} s`;
  const line = `${replayed} of ${counted(total)} ${done} in ${time}: replay ${id}`;
  const rest = [outlookText(replay), leftOutText(replay.leftOutFor)].filter(Boolean);
  print(options, text, [line, ...rest].join('; '));
  if (state === 'cancelled') throw new CommandFailure('The replay was cancelled.');
}

export function pathOfReplay(id: string): string {
  return `v1/replays/${encodeURIComponent(id)}`;
}
