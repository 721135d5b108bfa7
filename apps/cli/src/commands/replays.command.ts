import { setTimeout as sleep } from 'node:timers/promises';
import { type Command, Option } from 'commander';
import { idOf, type Schemas } from '#libs/client';
import { EVENT_KINDS } from '#libs/webhooks/domain';
import {
  type ApiConnection,
  type ApiOptions,
  apiOf,
  withApiOptions,
} from '../api/api-connection.js';
import { example, numericId } from '../arguments.js';
import { counted } from '../delivery-text.js';
import { CommandFailure } from '../failure.js';
import { complain, type OutputOptions, print } from '../output.js';
import { progressLine } from '../progress-line.js';
import { stopSignal } from '../stop-signal.js';
import { printObject } from '../table.js';

type Replay = Schemas['Replay'];
type Options = ApiOptions & OutputOptions;

const STATES = ['succeeded', 'exhausted', 'cancelled'] satisfies Schemas['ReplayableState'][];
const POLL_MS = 500;

interface StartOptions extends Options {
  webhook?: string;
  application?: string;
  state?: string;
  event?: string;
  status?: string;
  since: string;
  until?: string;
  dryRun?: true;
  wait?: true;
}

/** `replays start|show|cancel` */
export function addReplaysCommands(program: Command): void {
  const replays = program
    .command('replays')
    .description('send many finished deliveries again through a running API')
    .addHelpText('after', example('replays start --since 2027-01-31T12:00:00Z --dry-run'));
  withApiOptions(replays.command('start'), 'account')
    .description('send the deliveries that filters select again')
    .requiredOption('--since <time>', 'made at this time or later, such as 2027-01-31T12:00:00Z')
    .option('--until <time>', 'made before this time (default: now)')
    .option('--webhook <id>', 'of this subscription', numericId)
    .option('--application <id>', 'of events of this application', numericId)
    .addOption(
      new Option('--state <state>', 'in this state (default: exhausted or cancelled)').choices(
        STATES,
      ),
    )
    .addOption(new Option('--event <kind>', 'of events of this kind').choices(EVENT_KINDS))
    .option(
      '--status <result>',
      'with this result of the last attempt, such as 404, 5xx, timeout or failed',
    )
    .option('--dry-run', 'only count them')
    .option('--wait', 'until all of them have begun anew')
    .addHelpText('after', example('replays start --since 2027-01-31T12:00:00Z --dry-run'))
    .action(start);
  withApiOptions(replays.command('show'), 'account')
    .argument('<id>', 'id of the replay')
    .description('show how far a replay has come')
    .addHelpText('after', example('replays show 019a0b1c-2d3e-7f40-8a51-b26c73d84e95'))
    .action(show);
  withApiOptions(replays.command('cancel'), 'account')
    .argument('<id>', 'id of the replay')
    .description('send no more deliveries of a replay again')
    .addHelpText('after', example('replays cancel 019a0b1c-2d3e-7f40-8a51-b26c73d84e95'))
    .action(cancel);
}

async function start(options: StartOptions, command: Command): Promise<void> {
  if (options.dryRun && options.wait) {
    command.error('error: --dry-run and --wait exclude each other');
  }
  // Registered first, so that Ctrl-C never leaves the replay unnamed.
  const stopped = options.wait && stopSignal();
  const api = await apiOf(options, command);
  const { webhook: webhookId, application: applicationId, state, event, status } = options;
  const { since, until, dryRun } = options;
  const body = { webhookId, applicationId, state, event, status, since, until, dryRun };
  const { text } = await api.ask('POST', 'v1/deliveries/redeliver', JSON.stringify(body));
  if (dryRun) {
    print(options, text, countText(JSON.parse(text) as Schemas['ReplayCount']));
    return;
  }
  const started = JSON.parse(text) as Schemas['Address'];
  if (stopped) await wait(api, idOf(started), options, stopped);
  else print(options, text, `started replay ${idOf(started)}: ${started.href}`);
}

function countText({ deliveries, leftOut }: Schemas['ReplayCount']): string {
  const others = leftOut === 0 ? '' : `; ${leftOut} more are left out: their subscriptions are off`;
  return `${counted(deliveries)} would be sent again${others}`;
}

async function wait(
  api: ApiConnection,
  id: string,
  options: Options,
  stopped: AbortSignal,
): Promise<void> {
  const isStopped = (): boolean => stopped.aborted;
  for (;;) {
    const { text } = await api.ask('GET', pathOf(id));
    const replay = JSON.parse(text) as Replay;
    progressLine.show(`${replay.replayed} of ${counted(replay.total)} …`);
    if (replay.state !== 'running') {
      progressLine.clear();
      report(replay, text, options);
      return;
    }
    await sleep(POLL_MS, undefined, { signal: stopped }).catch(() => undefined);
    if (isStopped()) {
      progressLine.clear();
      complain(`Replay ${id} goes on: see replays show, or replays cancel.`);
      return;
    }
  }
}

function report(replay: Replay, text: string, options: Options): void {
  const { id, state, replayed, total, createdAt, completedAt } = replay;
  const ms = Date.parse(completedAt ?? createdAt) - Date.parse(createdAt);
  const time = `${(ms / 1_000).toFixed(1)} s`;
  print(options, text, `${replayed} of ${counted(total)} sent again in ${time}: replay ${id}`);
  if (state === 'cancelled') throw new CommandFailure('The replay was cancelled.');
}

async function show(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('GET', pathOf(id));
  printObject(options, text);
}

async function cancel(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('POST', `${pathOf(id)}/cancel`);
  print(options, text, `cancelled replay ${id}`);
}

function pathOf(id: string): string {
  return `v1/replays/${encodeURIComponent(id)}`;
}
