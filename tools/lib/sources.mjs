import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, renameSync, watch, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readText } from './processes.mjs';
import { report } from './problem.mjs';
import { ROOT } from './settings.mjs';

const SETTINGS = readFileSync(join(ROOT, 'tsconfig.json'), 'utf8');
const CACHE = join(ROOT, 'node_modules/.cache/sources');
const WATCHED = ['apps/api/src', 'apps/worker/src', 'libs'];
const IS_SOURCE = /(?<!spec|\.fake|\.contract|\.d)\.ts$/;
/** Editors write a file in several steps, and may save several files at once. */
const SAVING_MS = 50;
/** For an end in good order. What is cut off is sent again when its lease ends. */
const STOP_MS = 1_000;

/** @typedef {import('./programs.mjs').Program} Program */

/** The arguments with which Node.js runs our TypeScript, with `#libs/*` from the sources as well. */
export const SOURCE_ARGS = [
  '--conditions=switchhook-source',
  `--import=${new URL('source-hooks.mjs', import.meta.url).href}`,
  '--enable-source-maps',
];

/**
 * The JavaScript of a source, with its source map inside. Types are not checked. The result is cached, so that a
 * process that starts again does not have to load the compiler.
 * @param {string} file
 * @throws {SyntaxError} for people
 */
export function compiled(file) {
  const text = readFileSync(file, 'utf8');
  const hash = createHash('sha256');
  for (const part of [SETTINGS, file, text]) hash.update(part).update('\0');
  const cached = join(CACHE, `${hash.digest('hex')}.js`);
  const known = readText(cached);
  if (known !== undefined) return known;
  /** @type {typeof import('typescript')} */
  const ts = createRequire(import.meta.url)('typescript');
  const { config } = ts.parseConfigFileTextToJson('tsconfig.json', SETTINGS);
  const { compilerOptions } = /** @type {{ compilerOptions: object }} */ (config);
  const { options } = ts.convertCompilerOptionsFromJson(compilerOptions, ROOT);
  options.module = ts.ModuleKind.ESNext;
  options.moduleResolution = ts.ModuleResolutionKind.Bundler;
  options.inlineSourceMap = true;
  // The map names the source relative to where the JavaScript would be.
  delete options.outDir;
  const { outputText, diagnostics = [] } = ts.transpileModule(text, {
    fileName: file,
    compilerOptions: options,
    reportDiagnostics: true,
  });
  if (diagnostics.length > 0) {
    const host = { getCurrentDirectory: () => ROOT, getNewLine: () => '\n' };
    const getCanonicalFileName = (/** @type {string} */ name) => name;
    throw new SyntaxError(ts.formatDiagnostics(diagnostics, { ...host, getCanonicalFileName }));
  }
  // Written under another name and then renamed, so never half.
  mkdirSync(CACHE, { recursive: true });
  writeFileSync(`${cached}.${process.pid}`, outputText);
  renameSync(`${cached}.${process.pid}`, cached);
  return outputText;
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
  let programs = await Promise.all(starters.map(start));

  const restart = async () => {
    const files = await saved.take();
    const startedAt = Date.now();
    for (const program of programs) stopped.add(program);
    await Promise.all(programs.map((program) => program.stop(STOP_MS)));
    for (const file of files) if (readText(file) !== undefined) compiled(file);
    const results = await Promise.allSettled(starters.map(start));
    programs = results.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
    if (isStopping() || isOutdated()) return;
    for (const one of results) if (one.status === 'rejected') report(one.reason);
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
