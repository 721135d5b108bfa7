import { type Command, Option } from 'commander';
import type { Schemas } from '#libs/client';
import { addCommand, addApiCommand, type Options, refuseOptions, withApi } from '../command.js';
import { print } from '../output.js';
import {
  pathOfReplay,
  type ReplayOptions,
  startReplay,
  withReplayOptions,
} from '../start-replay.js';
import { printObject } from '../table.js';

const STATES = ['succeeded', 'exhausted', 'cancelled'] satisfies Schemas['ReplayableState'][];
/** Filters of deliveries, which do not apply to missed events. */
const OF_DELIVERIES = ['application', 'state', 'event', 'status'];
const AN_ID = '019a0b1c-2d3e-7f40-8a51-b26c73d84e95';
const START = '--since 2027-01-31T12:00:00Z --dry-run';

interface StartOptions extends ReplayOptions {
  missed?: true;
}

/** `replays start|show|cancel` */
export function addReplaysCommands(program: Command): void {
  const replays = addCommand(
    program,
    'replays',
    'send many finished deliveries again through a running API',
    `start ${START}`,
  );
  withReplayOptions(
    addApiCommand(replays, 'start', 'send the deliveries that filters select again', START),
  )
    .requiredOption('--since <time>', 'created at this time or later, such as 2027-01-31T12:00:00Z')
    .addOption(
      new Option('--state <state>', 'in this state (default: exhausted or cancelled)').choices(
        STATES,
      ),
    )
    .option('--missed', 'instead, send the events that the subscription of --webhook has missed')
    .action(start);
  addApiCommand(replays, 'show', 'show the progress of a replay', AN_ID)
    .argument('<id>', 'id of the replay')
    .action(
      withApi(async (api, options: Options, id: string) => {
        printObject(options, (await api.ask('GET', pathOfReplay(id))).text);
      }),
    );
  addApiCommand(replays, 'cancel', 'stop a replay; what it has started continues', AN_ID)
    .argument('<id>', 'id of the replay')
    .action(
      withApi(async (api, options: Options, id: string) => {
        const { text } = await api.ask('POST', `${pathOfReplay(id)}/cancel`);
        print(options, text, `cancelled replay ${id}`);
      }),
    );
}

async function start(options: StartOptions, command: Command): Promise<void> {
  const { missed, webhook } = options;
  if (!missed) {
    await startReplay({ path: 'v1/deliveries/redeliver', done: 'sent again' }, options, command);
    return;
  }
  if (webhook === undefined) command.error('error: --missed needs --webhook');
  refuseOptions(command, OF_DELIVERIES, (other) => `--missed and ${other} exclude each other`);
  const path = `v1/webhooks/${webhook}/replay`;
  await startReplay({ path, missed, done: 'sent' }, options, command);
}
