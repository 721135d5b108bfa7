// With `node --import`, Node.js runs TypeScript: see SOURCE_ARGS. It loads this file in the process, and again in the
// thread of its hooks.
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isMainThread } from 'node:worker_threads';
import { compiled } from './sources.mjs';

if (isMainThread) register(import.meta.url);

/** @type {import('node:module').ResolveHook} */
export function resolve(specifier, context, nextResolve) {
  const isOfSource = context.parentURL?.endsWith('.ts') && /^\.\.?\/.*\.js$/.test(specifier);
  return nextResolve(isOfSource ? specifier.replace(/js$/, 'ts') : specifier, context);
}

/** @type {import('node:module').LoadHook} */
export function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  return { format: 'module', shortCircuit: true, source: compiled(fileURLToPath(url)) };
}
