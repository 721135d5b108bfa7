import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDirectory, readState } from './data-dir.mjs';
import { end, endGroup, identify, readText, signalGroup } from './processes.mjs';
import { Problem } from './problem.mjs';
import { Programs } from './programs.mjs';

/**
 * @typedef {import('./processes.mjs').Identity & { name: string, withGroup?: boolean | undefined }}
 *   Entry the record of a program
 */

const STORES = ['postgres', 'redis'];

const PATIENCE_MS = 30_000;
/** For programs that a killed run left: their stores may be gone, so they may be unable to end cleanly. */
const LEFT_OVER_PATIENCE_MS = 10_000;

const ADVICE =
  'it names the processes of the last start; end those that still run, and delete the file.';

/** @param {(Partial<Entry> | null)[] | null} value @returns {value is Entry[]} */
const isList = (value) =>
  Array.isArray(value) && value.every((entry) => Number.isInteger(entry?.pid) && entry?.name);

/** @type {[NodeJS.Signals, number]} */
const KILL = ['SIGKILL', 5_000];

/**
 * The signals that end a process: SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one.
 * @param {string} name
 * @param {number} ms
 * @returns {[NodeJS.Signals, number][]}
 */
function steps(name, ms) {
  if (name !== 'postgres') return [['SIGTERM', ms], KILL];
  return [['SIGINT', ms], ['SIGQUIT', ms], KILL];
}

/**
 * The programs of one instance. `processes.json` records each one as soon as it exists, so that the start after a
 * SIGKILL finds them. Each leads its own process group, so that a terminal's Ctrl-C reaches only us and we decide the
 * order in which they end.
 */
export class Children extends Programs {
  #list;
  #logs;
  /** The running programs. @type {Map<import('./programs.mjs').Program, Entry>} */
  #entries = new Map();
  #ending = false;

  /** @param {string} dir the instance's directory */
  constructor(dir) {
    const logs = join(dir, 'logs');
    super(logs);
    makeDirectory(logs);
    this.#logs = logs;
    this.#list = join(dir, 'processes.json');
  }

  /** Ends the programs that a killed run left behind. @returns their names */
  async endLeftOvers() {
    // Written to a temporary file and renamed, so never half; after a power cut it may be empty.
    const list = readText(this.#list)?.trim() ? readState(this.#list, isList, ADVICE) : undefined;
    const left = (list ?? []).filter(
      ({ pid, startTime }) => identify(pid)?.startTime === startTime,
    );
    await endInOrder(left, LEFT_OVER_PATIENCE_MS);
    rmSync(this.#list, { force: true });
    return left.map(({ name }) => name);
  }

  /**
   * As {@link Programs.start}; the name also decides how and when it is ended.
   * @override
   * @param {string} name
   * @param {string} command
   * @param {readonly string[]} args
   * @param {import('./programs.mjs').Options} [options] `withGroup`: at the end, also ends the processes that it has
   * started
   */
  start(name, command, args, { withGroup, ...options } = {}) {
    if (this.#ending) throw new Problem('stopping.');
    const program = super.start(name, command, args, { ...options, detached: true });
    const identity = program.pid ? identify(program.pid) : undefined;
    if (identity) this.#entries.set(program, { ...identity, name, withGroup });
    this.#note();
    void program.exited.then(() => {
      // While a group has members, its number cannot be reused.
      if (!withGroup || !signalGroup(program.pid, 0)) this.#entries.delete(program);
      this.#note();
    });
    return program;
  }

  /** The number of running programs. */
  get size() {
    return this.#entries.size;
  }

  /** Ends everything: first the users of the stores, in their own time, then the stores. */
  async end() {
    this.#ending = true;
    const programs = [...this.#entries.keys()];
    await endInOrder([...this.#entries.values()], PATIENCE_MS);
    await Promise.all(programs.map(({ exited }) => exited));
    rmSync(this.#list, { force: true });
  }

  /** Moves the logs of the previous run aside; called at a start, when nothing has them open. */
  rotateLogs() {
    for (const name of readdirSync(this.#logs).filter((name) => name.endsWith('.log'))) {
      renameSync(join(this.#logs, name), join(this.#logs, `${name}.1`));
    }
  }

  #note() {
    const file = `${this.#list}.new`;
    writeFileSync(file, JSON.stringify([...this.#entries.values()]), { mode: 0o600 });
    renameSync(file, this.#list);
  }
}

/** @param {Entry[]} entries @param {number} ms for a clean end */
async function endInOrder(entries, ms) {
  const isStore = (/** @type {Entry} */ { name }) => STORES.includes(name);
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
