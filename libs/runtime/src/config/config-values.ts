import { createSecretKey } from 'node:crypto';
import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { hasRawLogin, type SecretKey } from '#libs/kernel';
import { postgresAddressOf } from '../database/postgres-address.js';

/** A parsed CIDR block: an address and the prefix length in bits. */
export type Network = [ipaddr.IPv4 | ipaddr.IPv6, number];

/** A program that reads settings. */
export type Program = 'api' | 'worker' | 'cli';

/** Which programs read a setting; without it, all do. The others must not fail because of a value that they ignore. */
export interface Readers {
  readBy: readonly Program[];
}

const readBy = (...programs: Program[]) => ({ readBy: programs }) satisfies Readers;
export const API = readBy('api');
export const WORKER = readBy('worker');
export const CLI = readBy('cli');
export const SERVERS = readBy('api', 'worker');
export const API_AND_CLI = readBy('api', 'cli');

const integer = (min: number, max: number) => {
  const must = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number(must).int(must).min(min, must).max(max, must);
};

export const wholeNumber = (min: number, max: number, byDefault: number) =>
  integer(min, max).default(byDefault);

/** With at most four of each kind, their connections fit into PostgreSQL's default of 100. */
const MAX_BY_DEFAULT = 4;

/** A number of processes, by default a part of the cores. */
export const processes = (partOfCores: number) =>
  integer(1, 64)
    .optional()
    .transform((given) => given ?? processesFor(availableParallelism() * partOfCores));

/** At least one; see {@link MAX_BY_DEFAULT}. */
export function processesFor(cores: number): number {
  return Math.min(Math.max(Math.round(cores), 1), MAX_BY_DEFAULT);
}

/** A comma-separated list; blank items are skipped. */
const list = <Item>(must: string, read: (item: string) => Item | undefined) =>
  z
    .string()
    .default('')
    .transform((text, context): Item[] => {
      const items: Item[] = [];
      for (const part of text.split(',').map((one) => one.trim())) {
        if (part === '') continue;
        const item = read(part);
        if (item === undefined) {
          context.addIssue({
            code: 'custom',
            message: `must be a comma-separated list of ${must}`,
          });
          return z.NEVER;
        }
        items.push(item);
      }
      return items;
    });

const blocks = list('CIDR blocks', (item): Network | undefined => {
  const [, address = '', prefix] = /^([^/%]+)(?:\/(\d{1,3}))?$/.exec(item) ?? [];
  // ipaddr.js reads 10/8 as 0.0.0.10/8, and 010.0.0.0/8 as 8.0.0.0/8.
  const family = isIP(address);
  const most = family === 4 ? 32 : 128;
  const bits = Number(prefix ?? most);
  return family === 0 || bits > most ? undefined : [ipaddr.parse(address), bits];
});

/** Blocks without host bits: 10.0.0.1/8 may be meant as one address, but covers 16 million. */
export const networks = blocks.transform((given, context): Network[] => {
  for (const [address, bits] of given) {
    const written = `${address.toString()}/${String(bits)}`;
    const family = address.kind() === 'ipv4' ? ipaddr.IPv4 : ipaddr.IPv6;
    const network = `${family.networkAddressFromCIDR(written).toString()}/${String(bits)}`;
    if (network === written) continue;
    context.addIssue({
      code: 'custom',
      message: `must not have host bits set in a CIDR block; did you mean ${network}?`,
    });
  }
  return given;
});

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const MAX_DELAY_MS = 7 * UNIT_MS.d;

/** Delays in ms, from a text such as `5s,30s,5m,2h`; empty means no retry. */
export const delays = z
  .string()
  .default('5s,30s,5m,30m,2h,5h,10h,14h,20h,24h')
  .transform((text, context): number[] => {
    if (text.trim() === '') return [];
    return text.split(',').map((item) => {
      const match = /^(\d{1,9})(ms|s|m|h|d)$/.exec(item.trim());
      const delay = match ? Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS] : NaN;
      if (!(delay >= 0 && delay <= MAX_DELAY_MS)) {
        context.addIssue({
          code: 'custom',
          message: 'must be a comma-separated list such as 5s,30s,5m,2h; each at most 7d',
        });
        return z.NEVER;
      }
      return delay;
    });
  });

/** Never quoted in another way, and not longer than PostgreSQL allows. */
export const schemaName = z
  .string()
  .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and _, and not begin with a digit')
  .optional();

const MAX_QUOTA = 100_000;

/** A rate such as `600/m`: `quota` requests in `windowMs`. */
export const rate = z.string().transform((text, context) => {
  const [, quota = '', unit = 's'] = /^(\d{1,6})\/([smh])$/.exec(text.trim()) ?? [];
  if (Number(quota) >= 1 && Number(quota) <= MAX_QUOTA) {
    return { quota: Number(quota), windowMs: UNIT_MS[unit as 's' | 'm' | 'h'] };
  }
  context.addIssue({
    code: 'custom',
    message: `must be a number of requests from 1 to ${String(MAX_QUOTA)} and a unit: 10/s, 600/m or 36000/h`,
  });
  return z.NEVER;
});

const ORIGIN = /^https?:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\])(?::\d+)?$/;

/** Origins as browsers write them: scheme, host, and the port if it is not the scheme's default. */
export const origins = list('origins such as https://app.example.com', (item) =>
  ORIGIN.test(item) && URL.canParse(item) && new URL(item).origin === item ? item : undefined,
);

/** An id, and 32 bytes in Base64. */
const SECRET_KEY = /^([\w-]{1,32}):([A-Za-z0-9+/]{43}=)$/;

/** Error messages name a key by its position, because its text may be the key itself. */
export const secretKeys = z
  .string()
  .default('')
  .transform((text, context): SecretKey[] => {
    if (text.trim() === '') return [];
    const keys: SecretKey[] = [];
    for (const [index, item] of text.split(',').entries()) {
      const [, id = '', base64] = SECRET_KEY.exec(item.trim()) ?? [];
      const isKnown = keys.some((key) => key.id === id);
      if (base64 === undefined || isKnown) {
        const fault = isKnown ? 'repeats an id' : 'must be an id, a colon and 32 bytes in Base64';
        context.addIssue({ code: 'custom', message: `key ${index + 1} ${fault}` });
        return z.NEVER;
      }
      keys.push({ id, key: createSecretKey(base64, 'base64') });
    }
    return keys;
  });

/** An address of PostgreSQL. It stays a text, because `migrate` and tests replace it. */
export const postgresUrl = z.string().superRefine((text, context) => {
  try {
    postgresAddressOf(text);
  } catch (error) {
    context.addIssue({ code: 'custom', message: (error as Error).message });
  }
});

export const oneOf = <const Choice extends string>(...choices: Choice[]) =>
  z.enum(choices, `must be one of ${choices.join(', ')}`);

export const onOff = oneOf('true', 'false').transform((value) => value === 'true');

export const httpUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

export const proxyUrl = httpUrl.refine(
  (text) => !hasRawLogin(text),
  'must be an http or https URL with a percent-encoded login',
);

export const baseUrl = httpUrl.transform((url) => url.replace(/\/+$/, '')).optional();
