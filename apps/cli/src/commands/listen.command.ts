import { once } from 'node:events';
import type { Command } from 'commander';
import { example, wholeNumber } from '../arguments.js';
import { Receiver } from '../listen/receiver.js';
import { SignatureCheck } from '../listen/signature-check.js';

const HOUR_MS = 3_600_000;
const DAY_SECONDS = 86_400;

interface ListenOptions {
  host: string;
  secret: string[];
  status: number;
  failFirst: number;
  retryAfter?: number;
  delay: number;
}

/** `listen` */
export function addListenCommand(program: Command): void {
  program
    .command('listen')
    .argument('<port>', 'port to listen on; 0 for any free port', wholeNumber(0, 65_535))
    .description('receive notifications, verify their signatures and print them, until Ctrl-C')
    .option('--host <address>', 'address to listen on', '127.0.0.1')
    .option(
      '--secret <key>',
      'secret or public key of a subscription; may be repeated',
      collect,
      [],
    )
    .option('--status <code>', 'status of the answers', wholeNumber(200, 599), 200)
    .option('--fail-first <n>', 'answer the first n with 503', wholeNumber(0, 1_000_000), 0)
    .option(
      '--retry-after <seconds>',
      'send Retry-After with answers other than 2xx',
      wholeNumber(0, 7 * DAY_SECONDS),
    )
    .option('--delay <ms>', 'delay each answer', wholeNumber(0, HOUR_MS), 0)
    .addHelpText('after', example('listen 4000 --secret whsec_…'))
    .action(listen);
}

function collect(secret: string, before: string[]): string[] {
  return [...before, secret];
}

async function listen(port: number, options: ListenOptions, command: Command): Promise<void> {
  const { host, status, failFirst, retryAfter, delay } = options;
  const answers = { status, failFirst, retryAfter, delayMs: delay };
  const receiver = new Receiver(signatureCheck(options.secret, command), answers, (text) => {
    console.log(text);
  });
  // Registered first, because a program that reads the first line may stop us at once.
  const stopped = Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  const bound = await receiver.listen(port, host);
  console.log(`listening on http://${host.includes(':') ? `[${host}]` : host}:${bound}/`);
  await stopped;
  await receiver.close();
}

/** Not checked by commander, whose errors repeat the value. */
function signatureCheck(secrets: string[], command: Command): SignatureCheck {
  try {
    return new SignatureCheck(secrets);
  } catch (error) {
    return command.error(`error: option '--secret': ${(error as Error).message}`);
  }
}
