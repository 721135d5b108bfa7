import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { asRole } from './environment.js';

const PROGRAM = fileURLToPath(new URL('../../dist/apps/cli/src/main.js', import.meta.url));

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

/** Runs the built command line to its end. */
export async function runCli(
  args: readonly string[],
  surroundings?: Surroundings,
): Promise<Ending> {
  return new RunningCommand(args, surroundings).ended;
}

/** The built command line as a process that runs until it ends or is stopped. */
export class RunningCommand {
  readonly ended: Promise<Ending>;
  private readonly process: ChildProcess;
  private stdout = '';
  private stderr = '';

  constructor(args: readonly string[], { env = {}, input = '' }: Surroundings = {}) {
    const { DATABASE_URL: url } = env;
    const child = spawn(process.execPath, [PROGRAM, ...args], {
      env: {
        PATH: process.env['PATH'],
        ...env,
        // Only migrate connects as the owner of the tables.
        ...(url !== undefined && args[0] !== 'migrate' && { DATABASE_URL: asRole(url, 'api') }),
      },
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
