import { type Config, readApiAddress, readConfig } from './config.js';

/**
 * The configuration of this process.
 * @throws InvalidConfigError
 */
export function configFromEnvironment(): Config {
  return readConfig(process.env);
}

/**
 * The address that this machine's API listens on, for programs that only call it.
 * @throws InvalidConfigError
 */
export function apiAddressFromEnvironment(): Pick<Config, 'HOST' | 'PORT'> {
  return readApiAddress(process.env);
}
