import { type ChildProcess, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { asRole } from './environment.js';

const PROGRAM = fileURLToPath(new URL('../../dist/apps/cli/src/main.js', import.meta.url));
const HOST = fileURLToPath(new URL('command-host.mjs', import.meta.url));

/** How to start a command, besides its arguments. */
export interface Surroundings {
  /** Its whole environment. */
  env?: Record<string, string>;
  /** Its standard input; empty by default. */
  input?: string | Buffer;
}

/** How a command ended. */
export interface Ending {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs the built command line to its end, in a process of its own. */
export function runCliProcess(
  args: readonly string[],
  surroundings?: Surroundings,
): Promise<Ending> {
  return new RunningCommand(args, surroundings).ended;
}

let host: ChildProcess | undefined;
let last: Promise<unknown> = Promise.resolve();

/**
 * Like {@link runCliProcess}, in one process for all commands, one after the other: loading the framework
 * takes a process of its own 1.5 s of CPU.
 */
export function runCli(
  args: readonly string[],
  { env = {}, input = '' }: Surroundings = {},
): Promise<Ending> {
  const ending = last.then(async () => {
    host ??= startHost();
    const base64 = Buffer.from(input).toString('base64');
    host.send({ args, env: environmentOf(args, env), input: base64 });
    const decided = new AbortController();
    const { signal } = decided;
    const ended = once(host, 'exit', { signal }).then(() =>
      Promise.reject(new Error('the command exits')),
    );
    try {
      const [answer] = (await Promise.race([once(host, 'message', { signal }), ended])) as [Ending];
      return answer;
    } finally {
      decided.abort();
    }
  });
  last = ending.catch(() => (host = undefined));
  return ending;
}

/** Ends with this process. */
function startHost(): ChildProcess {
  const child = fork(HOST, [PROGRAM], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    execArgv: [],
  });
  child.unref();
  child.channel?.unref();
  return child;
}

function environmentOf(
  [command]: readonly string[],
  env: Record<string, string>,
): Record<string, string | undefined> {
  const { DATABASE_URL: url } = env;
  return {
    PATH: process.env['PATH'],
    ...env,
    // Only migrate connects as the owner of the tables.
    ...(url !== undefined && command !== 'migrate' && { DATABASE_URL: asRole(url, 'api') }),
  };
}

/** The built command line as a process that runs until it ends or is stopped. */
export class RunningCommand {
  readonly ended: Promise<Ending>;
  private readonly process: ChildProcess;
  private stdout = '';
  private stderr = '';

  constructor(args: readonly string[], { env = {}, input = '' }: Surroundings = {}) {
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: environmentOf(args, env),
      stdio: 'pipe',
    });
    this.process = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text));
    // A command that does not read its input may end before all of it is written.
    child.stdin.on('error', () => undefined);
    child.stdin.end(input);
    this.ended = once(child, 'close').then(([code]) => ({
      code: code as number | null,
      stdout: this.stdout,
      stderr: this.stderr,
    }));
  }

  /** Resolves to its output once it contains a match; rejects if it ends without one. */
  async printed(pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(this.stdout);
      if (match) return match;
      const more = once(this.process.stdout!, 'data').then(() => undefined);
      const ending = await Promise.race([more, this.ended]);
      if (ending && !pattern.test(this.stdout)) {
        throw new Error(
          `ended with ${String(ending.code)} before ${String(pattern)}: ${ending.stderr}`,
        );
      }
    }
  }

  /** Its output on standard error. */
  errors(): string {
    return this.stderr;
  }

  stop(signal: 'SIGINT' | 'SIGTERM' | 'SIGKILL' = 'SIGINT'): Promise<Ending> {
    this.process.kill(signal);
    return this.ended;
  }
}
