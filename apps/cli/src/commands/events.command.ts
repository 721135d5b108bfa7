import { type Command, Option } from 'commander';
import { REPORTED_KINDS, type ReportedKind, type Resource, RESOURCES } from '#libs/webhooks/domain';
import { type ApiConnection, apiOf, withApiOptions } from '../api/api-connection.js';
import { numericId, wholeNumber } from '../arguments.js';
import { addCommand, type Options, refuseOptions } from '../command.js';
import { type FileEvent, readEvents } from '../event-file.js';
import { counted } from '../delivery-text.js';
import { CommandFailure } from '../failure.js';
import { complain, type OutputOptions, plural, print } from '../output.js';
import { refuseSharedInput } from '../request-body.js';
import { sampleEvents } from '../samples.js';
import { addStoredEventsCommands } from './stored-events.command.js';

/** The API's largest batch, and a size that it accepts by default. */
const MAX_BATCH = 1_000;
const MAX_BYTES = 1_000_000;

/** The API's result for one event: accepted, or refused with an `error` sentence. */
type EventAnswer = { href: string; duplicate: boolean; deliveries: number } | { error: string };

/**
 * Sends events to an API as a producer does, in batches if there is more than one, and yields the results in
 * order.
 * @param events JSON texts, sent unchanged
 * @throws CommandFailure when a whole request is refused or not answered
 */
async function* sendEvents(
  api: ApiConnection,
  events: readonly string[],
): AsyncGenerator<EventAnswer> {
  if (events.length === 1) {
    const { text } = await api.ask('POST', 'v1/events', events[0]);
    yield JSON.parse(text) as EventAnswer;
    return;
  }
  for (const batch of batchesOf(events)) {
    const { text } = await api.ask('POST', 'v1/events/batch', `{"events":[${batch.join(',')}]}`);
    yield* (JSON.parse(text) as { results: EventAnswer[] }).results;
  }
}

function batchesOf(events: readonly string[]): string[][] {
  const batches: string[][] = [[]];
  let bytes = 0;
  for (const event of events) {
    const size = Buffer.byteLength(event) + 1;
    if (batches.at(-1)!.length === MAX_BATCH || bytes + size > MAX_BYTES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(event);
    bytes += size;
  }
  return batches.filter((batch) => batch.length > 0);
}

const MAX_COUNT = 1_000;

interface SendOptions extends Options {
  fromFile?: string;
  event?: ReportedKind;
  resource?: Resource;
  count: number;
  id?: string;
}

/** `events send|list|export|follow|show` */
export function addEventsCommands(program: Command): void {
  const events = addCommand(
    program,
    'events',
    'report events to a running API, as a switch does, and look them up',
    'send --application 1',
  );
  const command = addCommand(
    events,
    'send',
    'send sample events, by default one of each kind, or the events of a file',
    '--application 1 --event smsdlr',
  );
  withApiOptions(command, 'reporter')
    .option(
      '--from-file <file>',
      'send the events of a file as they are: a JSON object, a JSON array, the body of a batch, or one object per line; - for standard input',
    )
    .addOption(new Option('--event <kind>', 'send only this kind').choices(REPORTED_KINDS))
    .addOption(new Option('--resource <resource>', 'the resource of the events').choices(RESOURCES))
    .option('--application <id>', 'events of this application', numericId)
    .option(
      '--account <id>',
      'events of this account; with --from-file, the account of all events in the file',
      numericId,
    )
    .option('--count <n>', `how many of each kind, 1 to ${MAX_COUNT}`, wholeNumber(1, MAX_COUNT), 1)
    .option('--id <key>', "the producer's key: an event with a known key is a duplicate")
    .action(send);
  addStoredEventsCommands(events);
}

/** Options for samples, which a file excludes. */
const OF_SAMPLES = ['event', 'resource', 'application', 'count', 'id'];

async function send(options: SendOptions, command: Command): Promise<void> {
  const { fromFile } = options;
  if (fromFile !== undefined) {
    refuseOptions(command, OF_SAMPLES, (option) => `--from-file and ${option} exclude each other`);
    refuseSharedInput(options, command);
  }
  const samples = fromFile === undefined ? samplesOf(options, command) : undefined;
  const api = await apiOf(options, command);
  const events = samples ?? (await readEvents(fromFile!));
  const texts = events.map(({ text }) => text);
  await report(events, sendEvents(api, texts), options);
}

function samplesOf(options: SendOptions, command: Command): FileEvent[] {
  const { application, account, event, resource, count, id } = options;
  if (application === undefined && account === undefined) {
    command.error('error: --application or --account is required, or both');
  }
  const kinds = event === undefined ? REPORTED_KINDS : [event];
  const ids = { applicationId: application, accountId: account, id };
  return sampleEvents({ events: kinds, resource, ...ids, count }, new Date()).map(
    (sample, index) => ({
      ...sample,
      place: `event ${index + 1}`,
      text: JSON.stringify(sample),
    }),
  );
}

async function report(
  events: readonly FileEvent[],
  answers: AsyncIterable<EventAnswer>,
  options: OutputOptions,
): Promise<void> {
  const start = performance.now();
  const sum = { refused: 0, duplicates: 0, deliveries: 0 };
  let answered = 0;
  for await (const answer of answers) {
    const { place, event, resource } = events[answered++]!;
    const what = `${event} ${resource}`;
    if ('error' in answer) {
      sum.refused += 1;
      complain(`${place}, ${what}, refused: ${answer.error}`);
      continue;
    }
    sum.duplicates += Number(answer.duplicate);
    sum.deliveries += answer.duplicate ? 0 : answer.deliveries;
    const outcome = answer.duplicate ? 'duplicate' : counted(answer.deliveries);
    print(options, { event, resource, ...answer }, `${what} ${outcome} ${answer.href}`);
  }
  // Only for people who watch: each event has its own line.
  if (events.length > 1 && process.stderr.isTTY) {
    const accepted = events.length - sum.refused;
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    complain(
      `${accepted} of ${events.length} events accepted in ${seconds} s ` +
        `(duplicates: ${sum.duplicates}), ${counted(sum.deliveries)}`,
    );
  }
  if (sum.refused > 0) {
    const were = plural(sum.refused, 'was', 'were');
    const all = `${events.length} ${plural(events.length, 'event')}`;
    throw new CommandFailure(`${sum.refused} of ${all} ${were} refused.`);
  }
}
