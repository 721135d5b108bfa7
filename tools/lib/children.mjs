import { spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync, readdirSync, renameSync } from 'node:fs';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { end, endGroup, identify, readText, signalGroup } from './processes.mjs';
import { Problem } from './problem.mjs';

const STORES = ['postgres', 'redis'];

const PATIENCE_MS = 30_000;
/** For what a killed run left: it has lost its stores maybe, and cannot end in good order. */
const LEFT_OVER_PATIENCE_MS = 10_000;

/** How a process is asked to end: SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one. */
const steps = (name, ms) => [
  ...(name === 'postgres'
    ? [
        ['SIGINT', ms],
        ['SIGQUIT', ms],
      ]
    : [['SIGTERM', ms]]),
  ['SIGKILL', 5_000],
];

/**
 * The processes of one instance. Each is written down in `processes.json` the moment it exists,
 * so that whoever comes after a SIGKILL knows what was ours. Each leads a process group of its
 * own, so that a terminal's Ctrl-C reaches us alone and we decide who ends when. Their output
 * goes to `logs/`: a pipe that nobody reads would stop them, one that is closed would end them.
 */
export class Children {
  #list;
  #logs;
  /** What runs, and the promise of its exit. */
  #running = new Map();
  #ending = false;

  /** @param {string} dir the instance's directory */
  constructor(dir) {
    this.#list = join(dir, 'processes.json');
    this.#logs = join(dir, 'logs');
    mkdirSync(this.#logs, { recursive: true, mode: 0o700 });
  }

  /** Ends what an earlier run left behind when it was killed. @returns their names */
  async endLeftOvers() {
    let left = [];
    try {
      left = JSON.parse(readText(this.#list) ?? '[]');
    } catch {
      // Written under another name and then renamed, so never half; empty after a power cut.
    }
    left = left.filter(({ pid, startTime }) => identify(pid)?.startTime === startTime);
    await endInOrder(left, LEFT_OVER_PATIENCE_MS);
    rmSync(this.#list, { force: true });
    return left.map(({ name }) => name);
  }

  /**
   * Starts a program.
   * @param {string} name of the log; also decides how and when it is ended
   * @param {{ input?: string, withGroup?: boolean } & import('node:child_process').SpawnOptions} options
   *   `withGroup`: at our end, also what it has started and not ended
   * @returns {{ pid: number, exited: Promise<string> }} `exited` never fails, and says how it ended
   */
  start(name, command, args, { input, withGroup, ...options } = {}) {
    if (this.#ending) throw new Problem('stopping.');
    const log = openSync(this.#log(name), 'a', 0o600);
    const stdio = [input === undefined ? 'ignore' : 'pipe', log, log];
    const child = spawn(command, args, { stdio, ...options, detached: true });
    closeSync(log);
    const entry = child.pid && { name, ...identify(child.pid), withGroup };
    if (entry?.startTime) this.#running.set(entry, undefined);
    this.#note();
    // A program that ends before it has read everything is its exit status' business.
    child.stdin?.on('error', () => {}).end(input);
    const exited = new Promise((resolve) => {
      child.on('error', (error) => resolve(`could not be started (${error.code})`));
      child.on('exit', (code, signal) => {
        // As long as somebody is left in it, a group's number cannot become another one's.
        if (!withGroup || !signalGroup(child.pid, 0)) this.#running.delete(entry);
        this.#note();
        resolve(signal ? `was ended by ${signal}` : `exited with code ${code}`);
      });
    });
    if (this.#running.has(entry)) this.#running.set(entry, exited);
    return { pid: child.pid, exited };
  }

  /** How many run. */
  get size() {
    return this.#running.size;
  }

  /** Runs a program to its end. @throws Problem with the end of its log when it fails */
  async run(name, command, args, options) {
    const how = await this.start(name, command, args, options).exited;
    if (how !== 'exited with code 0') throw this.failure(name, how);
  }

  /** The problem "NAME HOW", with the last lines that it wrote. */
  failure(name, how) {
    const lines = (readText(this.#log(name)) ?? '').trimEnd().split('\n').slice(-15);
    return new Problem(`${name} ${how}; its last lines were:\n  ${lines.join('\n  ')}`);
  }

  /** What a program wrote since its log was `from` characters long. */
  output(name, from = 0) {
    return (readText(this.#log(name)) ?? '').slice(from);
  }

  /** Ends everything: what uses the stores first, in its own time, then the stores. */
  async end() {
    this.#ending = true;
    const exits = [...this.#running.values()];
    await endInOrder([...this.#running.keys()], PATIENCE_MS);
    await Promise.all(exits);
    rmSync(this.#list, { force: true });
  }

  /** Puts the logs of the run before aside; for an instance's start, when nobody has them open. */
  rotateLogs() {
    for (const name of readdirSync(this.#logs).filter((name) => name.endsWith('.log'))) {
      renameSync(join(this.#logs, name), join(this.#logs, `${name}.1`));
    }
  }

  #log(name) {
    return join(this.#logs, `${name}.log`);
  }

  #note() {
    const file = `${this.#list}.new`;
    writeFileSync(file, JSON.stringify([...this.#running.keys()]), { mode: 0o600 });
    renameSync(file, this.#list);
  }
}

async function endInOrder(entries, ms) {
  const isStore = ({ name }) => STORES.includes(name);
  for (const group of [entries.filter((e) => !isStore(e)), entries.filter(isStore)]) {
    await Promise.all(
      group.map(({ name, withGroup, ...identity }) =>
        withGroup
          ? endGroup(identity.pid, name === 'initdb' ? 0 : ms)
          : end(identity, steps(name, ms)),
      ),
    );
  }
}
