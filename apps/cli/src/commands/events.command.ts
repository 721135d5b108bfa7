import { type Command, Option } from 'commander';
import { example, numericId, wholeNumber } from '../arguments.js';
import { EventSender, type EventAnswer } from '../events/event-sender.js';
import { EVENT_KINDS, type EventKind, type Resource, RESOURCES } from '#libs/webhooks/domain';
import { type SampleEvent, sampleEvents } from '../events/samples.js';
import { CommandFailure } from '../failure.js';
import { readPassword } from '../password-input.js';

/** The platform user of an `npm start` with its own database. The password is public. */
const TRIAL = { username: 'switch', password: 'switch-secret' };
const MAX_COUNT = 1_000;

interface SendOptions {
  url?: string;
  user: string;
  passwordStdin?: true;
  event?: EventKind;
  resource?: Resource;
  application?: string;
  account?: string;
  count: number;
  id?: string;
}

/** `events send` */
export function addEventsCommands(program: Command): void {
  program
    .command('events')
    .description('report events to a running API, like a switch')
    .addHelpText('after', example('events send --application 1'))
    .command('send')
    .description('send sample events, by default one of each kind')
    .option('--url <url>', 'the API (default: on this machine, at HOST and PORT)')
    .option('--user <name>', 'a user of the role platform', TRIAL.username)
    .option('--password-stdin', "read the user's password from standard input")
    .addOption(new Option('--event <kind>', 'send only this kind').choices(EVENT_KINDS))
    .addOption(new Option('--resource <resource>', 'what the events are about').choices(RESOURCES))
    .option('--application <id>', 'events of this application', numericId)
    .option('--account <id>', 'events of this account', numericId)
    .option('--count <n>', `how many of each kind, 1 to ${MAX_COUNT}`, wholeNumber(1, MAX_COUNT), 1)
    .option('--id <key>', "the producer's id: an event with a known id is a duplicate")
    .addHelpText('after', example('events send --application 1 --event smsdlr'))
    .action(send);
}

async function send(options: SendOptions, command: Command): Promise<void> {
  const { application, account, event, resource, count, id } = options;
  if (application === undefined && account === undefined) {
    command.error('error: --application or --account is required, or both');
  }
  const api = options.url === undefined ? await apiOfThisMachine() : givenApi(options.url, command);
  const username = options.user;
  const password = await passwordOf(options, api, command);
  const kinds = event === undefined ? EVENT_KINDS : [event];
  const ids = { applicationId: application, accountId: account, id };
  const events = sampleEvents({ events: kinds, resource, ...ids, count }, new Date());
  await report(events, new EventSender(api, { username, password }).send(events));
}

/** Not checked by commander, whose errors repeat the value, even with a password in the URL. */
function givenApi(text: string, command: Command): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return command.error("error: option '--url' must be an http or https URL");
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    return command.error(
      "error: option '--url' must have no credentials (see --user), no query and no fragment",
    );
  }
  return url;
}

async function apiOfThisMachine(): Promise<URL> {
  const { readApiAddress } = await import('#libs/runtime');
  const { HOST, PORT } = readApiAddress();
  // The wildcard address is for listening, not for calling.
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${PORT}`);
}

async function passwordOf(options: SendOptions, api: URL, command: Command): Promise<string> {
  if (options.passwordStdin) return readPassword();
  if (options.user !== TRIAL.username || !isLoopback(api)) {
    command.error(
      `error: --password-stdin is required, except for the user ${TRIAL.username} on this machine`,
    );
  }
  return TRIAL.password;
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}

async function report(
  events: readonly SampleEvent[],
  answers: AsyncIterable<EventAnswer>,
): Promise<void> {
  let answered = 0;
  let refused = 0;
  for await (const answer of answers) {
    const { event, resource } = events[answered++]!;
    if ('error' in answer) {
      refused++;
      console.error(`${event} ${resource} refused: ${answer.error}`);
    } else {
      const deliveries = answer.deliveries === 1 ? '1 delivery' : `${answer.deliveries} deliveries`;
      const outcome = answer.duplicate ? 'duplicate' : deliveries;
      console.log(`${event} ${resource} ${outcome} ${answer.href}`);
    }
  }
  if (refused > 0) throw new CommandFailure(`${refused} of ${events.length} events were refused.`);
}
