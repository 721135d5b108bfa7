import { type Command, Option } from 'commander';
import { EVENT_KINDS, type EventKind, newSigningKey, REPORTED_KINDS } from '#libs/webhooks/domain';
import { type ApiOptions, apiOf, givenUrl, withApiOptions } from '../api/api-connection.js';
import { example, numericId, wholeNumber } from '../arguments.js';
import { refuseOptions } from '../command.js';
import { forward, Receiver } from '../listen/receiver.js';
import { type Arrival, arrivalObject, arrivalText } from '../listen/notification-text.js';
import { isPublicKey, SignatureCheck } from '../listen/signature-check.js';
import { listenByStream } from '../listen/stream-listener.js';
import { type OutputOptions, print } from '../output.js';
import { stopSignal } from '../stop-signal.js';

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;

interface ListenOptions extends ApiOptions, OutputOptions {
  forwardTo?: string;
  host: string;
  secret: string[];
  status: number;
  failFirst: number;
  retryAfter?: number;
  delay: number;
  event?: EventKind[];
  resource: string;
  application?: string;
}

/** Options by the mode that they belong to. */
const ANSWERS = ['status', 'failFirst', 'retryAfter', 'delay'];
const WITH_PORT = ['host', ...ANSWERS];
const WITHOUT_PORT = ['url', 'user', 'passwordStdin', 'event', 'resource', 'application'];

/** `listen` */
export function addListenCommand(program: Command): void {
  const command = program
    .command('listen')
    .argument('[port]', 'port to listen on; 0 for any free port', wholeNumber(0, 65_535))
    .description(
      'receive notifications, verify their signatures and print them, until Ctrl-C; without a port, ' +
        'receive those of an account through temporary subscriptions',
    )
    .option('--forward-to <url>', 'forward each notification to this URL')
    .option(
      '--secret <key>',
      'key to verify with, a secret or public key; without a port, a secret to sign ' +
        'with (default: a new one, which is printed); may be repeated',
      collect,
      [],
    )
    .optionsGroup('With a port:')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option('--status <code>', 'status of the answers', wholeNumber(200, 599), 200)
    .option('--fail-first <n>', 'answer the first n with 503', wholeNumber(0, 1_000_000), 0)
    .option(
      '--retry-after <seconds>',
      'send Retry-After with answers other than 2xx',
      wholeNumber(0, 7 * DAY_SECONDS),
    )
    .option('--delay <ms>', 'delay each answer', wholeNumber(0, HOUR_MS), 0)
    .optionsGroup('Without a port:');
  withApiOptions(command, 'account')
    .addOption(
      new Option('--event <kinds...>', 'only these kinds (default: those of the platform)').choices(
        EVENT_KINDS,
      ),
    )
    .option('--resource <resources>', 'only for these resources, such as call,sms', 'all')
    .option('--application <id>', 'only events of this application', numericId)
    .optionsGroup('')
    .addHelpText('after', example('listen 4000 --secret whsec_…'))
    .addHelpText('after', example('listen --forward-to http://127.0.0.1:8080/hook'))
    .action(listen);
}

function collect(secret: string, before: string[]): string[] {
  return [...before, secret];
}

async function listen(
  port: number | undefined,
  options: ListenOptions,
  command: Command,
): Promise<void> {
  const [others, why] = port === undefined ? [WITH_PORT, 'needs'] : [WITHOUT_PORT, 'excludes'];
  refuseOptions(command, others, (option) => `option '${option}' ${why} a port`);
  const { forwardTo: url } = options;
  const forwardTo = url === undefined ? undefined : givenUrl('forward-to', url, command);
  const byApplication = 'the web application of --forward-to sets the answer, not';
  if (forwardTo) refuseOptions(command, ANSWERS, (option) => `${byApplication} '${option}'`);
  const show = (arrival: Arrival): void => {
    print(options, arrivalObject(arrival), arrivalText(arrival));
  };
  if (port === undefined) await listenToAccount(options, command, forwardTo, show);
  else await listenOn(port, options, command, forwardTo, show);
}

async function listenOn(
  port: number,
  options: ListenOptions,
  command: Command,
  forwardTo: URL | undefined,
  show: (arrival: Arrival) => void,
): Promise<void> {
  const { host, status, failFirst, retryAfter, delay } = options;
  const answers = { status, failFirst, retryAfter, delayMs: delay, forwardTo };
  const receiver = new Receiver(signatureCheck(options.secret, command), answers, show);
  // Registered first, because a program that reads the first line may send the signal at once.
  const stopped = stopSignal();
  const bound = await receiver.listen(port, host);
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}/`;
  print(options, { listeningOn: url }, `listening on ${url}`);
  await new Promise((resolve) => {
    if (stopped.aborted) resolve(undefined);
    stopped.addEventListener('abort', resolve);
  });
  await receiver.close();
}

async function listenToAccount(
  options: ListenOptions,
  command: Command,
  forwardTo: URL | undefined,
  show: (arrival: Arrival) => void,
): Promise<void> {
  signatureCheck(options.secret, command);
  if (options.secret.some(isPublicKey)) {
    command.error(
      "error: option '--secret': without a port it must be a secret, whsec_ and Base64",
    );
  }
  const stopped = stopSignal();
  const api = await apiOf(options, command);
  const { event: events = REPORTED_KINDS, resource, application: applicationId } = options;
  const { secret: given } = options;
  const { secret } = newSigningKey('hmac-sha256');
  await listenByStream(
    api,
    { events, resource, applicationId },
    given.length > 0 ? given : [secret],
    stopped,
    () => {
      const isNew = given.length === 0;
      const line = `listening to ${events.join(', ')}`;
      print(
        options,
        { listeningTo: events, ...(isNew && { secret }) },
        isNew ? `${line}\nsigning with ${secret}` : line,
      );
    },
    async ({ headers, body }) => {
      const answer = forwardTo && (await forward(forwardTo, headers, body));
      const outcome =
        answer === undefined
          ? ''
          : typeof answer === 'number'
            ? `answered ${answer}`
            : `not answered (${answer})`;
      show({ outcome, headers, body });
    },
  );
}

/** Parsed here, because commander's errors repeat the value. */
function signatureCheck(secrets: string[], command: Command): SignatureCheck {
  try {
    return new SignatureCheck(secrets);
  } catch (error) {
    return command.error(`error: option '--secret': ${(error as Error).message}`);
  }
}
