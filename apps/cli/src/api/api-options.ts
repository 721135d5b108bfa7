import type { Command } from 'commander';
import { readPassword } from '../password-input.js';
import { ApiConnection } from './api-connection.js';

/** The users of an `npm start` with its own database. Their passwords are public. */
const TRIAL = {
  platform: { username: 'switch', password: 'switch-secret' },
  account: { username: 'demo', password: 'demo-secret' },
};
const TRIAL_USERS = Object.values(TRIAL);

export interface ApiOptions {
  url?: string;
  user: string;
  passwordStdin?: true;
}

/** Adds the options of a command that calls a running API. */
export function withApiOptions(command: Command, role: keyof typeof TRIAL): Command {
  const whose = role === 'platform' ? 'a user of the role platform' : 'the user of the account';
  return command
    .option('--url <url>', 'the API (default: on this machine, at HOST and PORT)')
    .option('--user <name>', whose, TRIAL[role].username)
    .option('--password-stdin', "read the user's password from standard input");
}

/** Connects to the API that the options name. Wrong options end the command. */
export async function apiOf(options: ApiOptions, command: Command): Promise<ApiConnection> {
  const api =
    options.url === undefined ? await apiOfThisMachine() : givenUrl('url', options.url, command);
  if (api.search !== '' || api.hash !== '') {
    command.error("error: option '--url' must have no query and no fragment");
  }
  if (/\/v1\/*$/.test(api.pathname)) {
    command.error("error: option '--url' must be the address without /v1");
  }
  const password = await passwordOf(options, api, command);
  return new ApiConnection(api, { username: options.user, password });
}

/** Parses a URL option. Commander does not, because its errors repeat the value, even a password. */
export function givenUrl(option: string, text: string, command: Command): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    return command.error(`error: option '--${option}' must be an http or https URL`);
  }
  if (url.username !== '' || url.password !== '') {
    return command.error(`error: option '--${option}' must have no credentials (see --user)`);
  }
  return url;
}

async function apiOfThisMachine(): Promise<URL> {
  const { readApiAddress } = await import('#libs/runtime/config');
  const { HOST, PORT } = readApiAddress();
  // The wildcard address works only for listening.
  const host = HOST === '0.0.0.0' || HOST === '::' ? '127.0.0.1' : HOST;
  return new URL(`http://${host.includes(':') ? `[${host}]` : host}:${PORT}`);
}

async function passwordOf(options: ApiOptions, api: URL, command: Command): Promise<string> {
  if (options.passwordStdin) return readPassword();
  const trial = TRIAL_USERS.find(({ username }) => username === options.user);
  if (trial && isLoopback(api)) return trial.password;
  const [platform, account] = TRIAL_USERS.map(({ username }) => username);
  return command.error(
    `error: --password-stdin is required, except for the users ${platform} and ${account} on this machine`,
  );
}

function isLoopback({ hostname }: URL): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(?:\.\d+){3}$/.test(hostname);
}
