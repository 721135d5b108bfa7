import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Problem } from './problem.mjs';

/** The root of the clone. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const NODE_MAJOR = 20;
const NODE_MINOR = 19;
/** @type {Record<string, string>} */
const LOOPBACK_OF_ALL = { '0.0.0.0': '127.0.0.1', '::': '[::1]' };
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/**
 * For Node.js, which would otherwise let the heap of an API or a worker grow with the memory of the machine
 * (docs/operating/scale.md). The image sets the same (tools/Dockerfile).
 */
export const HEAP_LIMITS = '--max-old-space-size=256';

/** @throws Problem if Node is too old */
export function requireNode() {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major > NODE_MAJOR || (major === NODE_MAJOR && minor >= NODE_MINOR)) return;
  throw new Problem(
    `Node ${NODE_MAJOR}.${NODE_MINOR} or later is needed, and this is ${process.versions.node}.`,
  );
}

/** The directory of an instance's data, logs and notes. @param {NodeJS.ProcessEnv} env */
export function dataDir(env) {
  return resolve(ROOT, env.DATA_DIR || '.data');
}

/**
 * The port of a setting, or undefined if it is not set.
 * @param {NodeJS.ProcessEnv} env @param {'PORT' | 'WORKER_PORT' | 'METRICS_PORT'} name
 * @param {number} [last] the maximum
 * @throws Problem
 */
export function portOf(env, name, last = 65_535) {
  if (!env[name]) return undefined;
  const port = Number(env[name]);
  if (Number.isInteger(port) && port >= 1 && port <= last) return port;
  throw new Problem(`${name} must be a whole number from 1 to ${last}.`);
}

/**
 * Where the API listens.
 * @param {NodeJS.ProcessEnv} env
 * @returns {{ host: string, port: number, url: string, isLoopback: boolean }}
 * @throws Problem
 */
export function listenAt(env) {
  const port = portOf(env, 'PORT') ?? 3000;
  const host = env.HOST || '127.0.0.1';
  const name = LOOPBACK_OF_ALL[host] ?? (host.includes(':') ? `[${host}]` : host);
  return { host, port, url: `http://${name}:${port}`, isLoopback: LOOPBACK.test(host) };
}
