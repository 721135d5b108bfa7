import { type ChildProcess, spawn, type SpawnOptions } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A program that was started; `exited` never fails, and says how it ended. */
export interface Program {
  pid: number;
  exited: Promise<string>;
}

/**
 * The programs of an installation, with the methods of `tools/lib/children.mjs` that starting the
 * stores takes. They stay in our process group: whoever ends it ends them, however we end.
 */
export class Programs {
  private readonly running = new Map<ChildProcess, Promise<string>>();

  /** @param dir for their logs */
  constructor(private readonly dir: string) {
    mkdirSync(dir, { recursive: true });
  }

  /** @param options.input what it reads */
  start(
    name: string,
    command: string,
    args: readonly string[],
    options: SpawnOptions & { input?: string } = {},
  ): Program {
    const { input, ...others } = options;
    const log = openSync(this.log(name), 'a');
    const stdio = [input === undefined ? 'ignore' : 'pipe', log, log] as const;
    const child = spawn(command, args, { ...others, stdio: [...stdio] });
    closeSync(log);
    child.stdin?.on('error', () => undefined).end(input);
    const exited = new Promise<string>((resolve) => {
      child.on('error', (error) => resolve(`could not be started (${error.message})`));
      child.on('exit', (code, signal) => {
        this.running.delete(child);
        resolve(signal ? `was ended by ${signal}` : `exited with code ${String(code)}`);
      });
    });
    this.running.set(child, exited);
    return { pid: child.pid ?? 0, exited };
  }

  /** Runs a program to its end. @throws Error with the end of its log when it fails */
  async run(
    name: string,
    command: string,
    args: readonly string[],
    options?: SpawnOptions & { input?: string },
  ): Promise<void> {
    const how = await this.start(name, command, args, options).exited;
    if (how !== 'exited with code 0') throw this.failure(name, how);
  }

  failure(name: string, how: string): Error {
    return new Error(
      `${name} ${how}:\n${this.output(name).trimEnd().split('\n').slice(-15).join('\n')}`,
    );
  }

  /** What a program wrote since its log was `from` characters long. */
  output(name: string, from = 0): string {
    return readFileSync(this.log(name), { encoding: 'utf8', flag: 'a+' }).slice(from);
  }

  /** SIGKILL for all that run. */
  async kill(): Promise<void> {
    for (const child of this.running.keys()) child.kill('SIGKILL');
    await Promise.all(this.running.values());
  }

  private log(name: string): string {
    return join(this.dir, `${name}.log`);
  }
}
