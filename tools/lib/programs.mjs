import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from './eventually.mjs';
import { readText } from './processes.mjs';
import { Problem } from './problem.mjs';

/** Time for a clean end. */
const STOP_MS = 30_000;
const SUCCESS = 'exited with code 0';
const LAST_LINES = 15;

/**
 * @typedef {import('node:child_process').SpawnOptions & { input?: string | undefined,
 *   withGroup?: boolean }} Options of a program; `input` is its standard input, `withGroup` is for Children
 */

/** A started program, with its output in a log. */
export class Program {
  /** How it ended; undefined while it runs. @type {string | undefined} */
  ending;
  #child;
  #log;
  #start;

  /**
   * @param {string} name
   * @param {string} log
   * @param {string} command
   * @param {readonly string[]} args
   * @param {Options} options
   */
  constructor(name, log, command, args, { input, ...options }) {
    this.name = name;
    this.#log = log;
    this.#start = readText(log)?.length ?? 0;
    const handle = openSync(log, 'a', 0o600);
    this.#child = spawn(command, args, {
      stdio: [input === undefined ? 'ignore' : 'pipe', handle, handle],
      ...options,
    });
    closeSync(handle);
    // If it ends before it has read everything, its exit status tells.
    this.#child.stdin?.on('error', () => undefined).end(input);
    /**
     * Resolves to how it ended; never rejects.
     * @type {Promise<string>}
     */
    this.exited = new Promise((resolve) => {
      const end = (/** @type {string} */ how) => resolve((this.ending = how));
      this.#child.on('error', (error) => end(`could not be started (${error.message})`));
      this.#child.on('exit', (code, signal) =>
        end(signal ? `was ended by ${signal}` : `exited with code ${code}`),
      );
    });
  }

  /** 0 if it could not be started. */
  get pid() {
    return this.#child.pid ?? 0;
  }

  /** Its output. */
  output() {
    return (readText(this.#log) ?? '').slice(this.#start);
  }

  /** Sends a signal, unless it has ended. @param {NodeJS.Signals} signal */
  signal(signal) {
    this.#child.kill(signal);
  }

  /** SIGKILL. */
  kill() {
    this.signal('SIGKILL');
    return this.exited;
  }

  /** SIGTERM, and SIGKILL if that takes too long. */
  async stop(ms = STOP_MS) {
    this.signal('SIGTERM');
    const timer = setTimeout(() => this.signal('SIGKILL'), ms);
    const how = await this.exited;
    clearTimeout(timer);
    return how;
  }

  /**
   * @param {() => Promise<boolean> | boolean} isReady
   * @param {number} ms
   * @throws {Problem} when it ends, or is not ready in time
   */
  async ready(isReady, ms) {
    const isDecided = async () => this.ending !== undefined || (await isReady());
    await eventually(isDecided, Boolean, { ms }).catch(() => {
      throw this.failure(`is not ready after ${ms / 1_000} s`);
    });
    if (this.ending !== undefined) throw this.failure(this.ending);
  }

  /** The problem "NAME HOW", with its last lines of output. @param {string} how */
  failure(how) {
    const lines = this.output().trimEnd().split('\n').slice(-LAST_LINES);
    return new Problem(`${this.name} ${how}; its last lines were:\n  ${lines.join('\n  ')}`);
  }
}

/**
 * Starts programs. Their output goes to files: an unread pipe would stall them, a closed pipe would end them. They stay
 * in our process group, and end with it even if we are killed.
 */
export class Programs {
  /** @type {Set<Program>} */
  #running = new Set();
  #dir;

  /** @param {string} dir for their logs; created when the first one starts */
  constructor(dir) {
    this.#dir = dir;
  }

  /**
   * @param {string} name of the program, and of its log
   * @param {string} command
   * @param {readonly string[]} args
   * @param {Options} [options]
   */
  start(name, command, args, options = {}) {
    mkdirSync(this.#dir, { recursive: true, mode: 0o700 });
    const program = new Program(name, join(this.#dir, `${name}.log`), command, args, options);
    this.#running.add(program);
    void program.exited.then(() => this.#running.delete(program));
    return program;
  }

  /**
   * Runs a program to its end.
   * @param {Parameters<Programs['start']>} what see {@link start}
   * @throws {Problem} with the end of its log when it fails
   */
  async run(...what) {
    const program = this.start(...what);
    const how = await program.exited;
    if (how !== SUCCESS) throw program.failure(how);
  }

  /** SIGKILL for all running programs. */
  async kill() {
    await Promise.all([...this.#running].map((program) => program.kill()));
  }
}
