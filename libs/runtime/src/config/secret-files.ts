import { readSmallFile } from '../small-file.js';

/** The variables of a process, as `process.env` has them. */
export type Environment = Record<string, string | undefined>;

/** Variables that may contain a password or a key. */
export const SECRETS = [
  'DATABASE_URL',
  'MIGRATION_DATABASE_URL',
  'REDIS_URL',
  'REDIS_PASSWORD',
  'REDIS_SENTINEL_PASSWORD',
  'SECRETS_KEYS',
  'DELIVERY_PROXY_URL',
];

/**
 * The variables, with those of {@link SECRETS} that are in files: `X_FILE` is the path of a file that contains `X`, such
 * as one that Kubernetes mounts.
 * @param wanted the names of the variables that will be used
 * @returns also a message for each faulty variable, by its name
 */
export function withSecretFiles(environment: Environment, wanted: readonly string[]) {
  const variables = { ...environment };
  const faults = new Map<string, string>();
  for (const name of SECRETS.filter((secret) => wanted.includes(secret))) {
    const file = `${name}_FILE`;
    const path = environment[file];
    if (!path) continue;
    if (environment[name]) {
      faults.set(name, `${name}: must not be set together with ${file}`);
      continue;
    }
    try {
      variables[name] = readSmallFile(path).replace(/\r?\n$/, '');
    } catch (error) {
      faults.set(name, `${file}: the file ${(error as Error).message}`);
    }
  }
  return { variables, faults };
}
