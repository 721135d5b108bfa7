import { readdirSync, watch } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import { Problem, report } from './problem.mjs';
import { ROOT } from './settings.mjs';

const SERVICES = ['apps/api/src/main', 'apps/worker/src/main'];
const WATCHED = ['apps/api/src', 'apps/worker/src', 'libs'];
const IS_SOURCE = /(?<!spec|\.fake|\.contract|\.d)\.ts$/;
/** Editors write a file in several steps, and may save several files at once. */
const SAVING_MS = 50;
/** For an end in good order. What is cut off is sent again when its lease ends. */
const STOP_MS = 1_000;

/** @typedef {import('./programs.mjs').Program} Program */

/** Where {@link bundlePrograms} puts what `npm run build` puts into `dist`, which stays as it is. */
export const DEVELOPED = 'dist/developed';

/**
 * Bundles programs: the API and the worker, if no others are given. Types are not checked.
 * @param {string[]} [sources] without `.ts`
 * @param {string} [dir] within the project, where the packages are found
 * @throws Problem for wrong syntax, and for imports of what is not there
 */
export async function bundlePrograms(sources = SERVICES, dir = DEVELOPED) {
  // Only now, because at the first start it is yet to be installed.
  const { bundle } = await import('../../apps/bundle.mjs');
  try {
    await bundle(sources, dir);
  } catch (error) {
    // It has colours, which only a terminal shows.
    throw new Problem(stripVTControlCharacters(/** @type {Error} */ (error).message));
  }
}

/** The sources of the API and the worker that were saved and not yet taken. */
class Saved {
  /** @type {Set<string>} */
  #files = new Set();
  /** @type {Set<string>} */
  #directories = new Set();
  #wake = () => {};

  constructor() {
    for (const path of WATCHED) this.#watch(join(ROOT, path));
  }

  get isEmpty() {
    return this.#files.size === 0;
  }

  /** Resolves with the next files that are saved. */
  async take() {
    if (this.isEmpty) await new Promise((resolve) => (this.#wake = () => resolve(undefined)));
    await sleep(SAVING_MS);
    const files = [...this.#files];
    this.#files.clear();
    return files;
  }

  /** Each directory by itself, because Node.js 20 loses files in trees when editors replace them. @param {string} directory */
  #watch(directory) {
    if (this.#directories.has(directory)) return;
    try {
      watch(directory, (event, name) => {
        const path = join(directory, name ?? '');
        if (IS_SOURCE.test(path)) {
          this.#files.add(path);
          this.#wake();
        } else if (event === 'rename') this.#watch(path);
      });
      this.#directories.add(directory);
      for (const entry of readdirSync(directory, { withFileTypes: true })) {
        if (entry.isDirectory()) this.#watch(join(directory, entry.name));
      }
    } catch {
      // It is gone, or not a directory.
    }
  }
}

/**
 * Starts programs, and again whenever one of their sources is saved. One that fails does so until the next save.
 * @param {((isOutdated: () => boolean) => Promise<Program>)[]} starters each resolves when its program is ready,
 *   or when `isOutdated` says that it will be stopped anyway
 * @param {() => boolean} isStopping
 */
export async function restartOnSave(starters, isStopping) {
  const saved = new Saved();
  /** @type {Set<Program>} */
  const stopped = new Set();
  const isOutdated = () => !saved.isEmpty;
  const start = async (/** @type {(typeof starters)[number]} */ starter) => {
    const program = await starter(isOutdated);
    void program.exited.then((how) => {
      if (!stopped.has(program) && !isStopping()) report(program.failure(how));
    });
    return program;
  };
  await bundlePrograms();
  let programs = await Promise.all(starters.map(start));

  const restart = async () => {
    const files = await saved.take();
    const startedAt = Date.now();
    for (const program of programs) stopped.add(program);
    const stopping = programs.map((program) => program.stop(STOP_MS));
    const isPrepared = Promise.all([bundlePrograms(), ...stopping]);
    const results = await Promise.allSettled(
      starters.map((starter) => isPrepared.then(() => start(starter))),
    );
    programs = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (isStopping() || isOutdated()) return;
    /** @type {Set<unknown>} */
    const reasons = new Set();
    for (const one of results) if (one.status === 'rejected') reasons.add(one.reason);
    for (const reason of reasons) report(reason);
    const names = files.map((file) => relative(ROOT, file)).join(', ');
    const seconds = ((Date.now() - startedAt) / 1_000).toFixed(1);
    const ready = programs.map(({ name }) => name).join(' and ');
    const result = ready
      ? `${ready} ready after ${seconds} s`
      : 'nothing starts; save to try again';
    console.log(`${names} saved: ${result}`);
  };
  void (async () => {
    while (!isStopping()) await restart();
  })();
}
