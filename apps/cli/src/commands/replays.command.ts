import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { type ApiOptions, apiOf, withApiOptions } from '../api/api-connection.js';
import { example } from '../arguments.js';
import { type OutputOptions, print } from '../output.js';
import {
  pathOfReplay,
  type ReplayOptions,
  startReplay,
  withReplayOptions,
} from '../start-replay.js';
import { printObject } from '../table.js';

type Options = ApiOptions & OutputOptions;

const STATES = ['succeeded', 'exhausted', 'cancelled'] satisfies Schemas['ReplayableState'][];
/** Filters of deliveries, which what was missed has none of. */
const OF_DELIVERIES = ['application', 'state', 'event', 'status'] as const;

interface StartOptions extends ReplayOptions {
  missed?: true;
}

/** `replays start|show|cancel` */
export function addReplaysCommands(program: Command): void {
  const replays = program
    .command('replays')
    .description('send many finished deliveries again through a running API')
    .addHelpText('after', example('replays start --since 2027-01-31T12:00:00Z --dry-run'));
  withReplayOptions(withApiOptions(replays.command('start'), 'account'))
    .description('send the deliveries that filters select again')
    .requiredOption('--since <time>', 'made at this time or later, such as 2027-01-31T12:00:00Z')
    .addOption(
      new Option('--state <state>', 'in this state (default: exhausted or cancelled)').choices(
        STATES,
      ),
    )
    .option('--missed', 'instead, send the events that the subscription of --webhook has missed')
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
  const { missed, webhook } = options;
  if (!missed) {
    await startReplay({ path: 'v1/deliveries/redeliver', done: 'sent again' }, options, command);
    return;
  }
  if (webhook === undefined) command.error('error: --missed needs --webhook');
  const other = OF_DELIVERIES.find((name) => options[name] !== undefined);
  if (other !== undefined) command.error(`error: --missed and --${other} exclude each other`);
  const path = `v1/webhooks/${webhook}/replay`;
  await startReplay({ path, missed, done: 'sent' }, options, command);
}

async function show(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('GET', pathOfReplay(id));
  printObject(options, text);
}

async function cancel(id: string, options: Options, command: Command): Promise<void> {
  const api = await apiOf(options, command);
  const { text } = await api.ask('POST', `${pathOfReplay(id)}/cancel`);
  print(options, text, `cancelled replay ${id}`);
}
