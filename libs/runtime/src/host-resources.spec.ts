import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from './config/config.js';
import { filesAllowed, filesNeeded, HostResources, warnOfFewFiles } from './host-resources.js';
import type { Log } from './logging/log.js';
import { Metrics } from './telemetry/metrics.js';

const errorOf = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

const lines: string[] = [];
const write = (_fields: object, message: string) => void lines.push(message);
let metrics: Metrics;
let host: HostResources;

beforeEach(() => {
  vi.useFakeTimers();
  lines.length = 0;
  metrics = new Metrics();
  host = new HostResources(metrics, { info: write, warn: write } as unknown as Log);
});
afterEach(() => {
  vi.useRealTimers();
});

it('logs a shortage once, and its end after five seconds without another', () => {
  host.failed(errorOf('EMFILE'));
  host.failed(errorOf('EMFILE'));
  host.sufficed();
  expect(lines).toEqual(['the network of this host is away']);
  vi.advanceTimersByTime(5_000);
  host.sufficed();
  expect(lines).toEqual(['the network of this host is away', 'the network of this host is back']);
});

it('counts each shortage by its code', async () => {
  host.failed(errorOf('EMFILE'));
  host.failed(errorOf('EMFILE'));
  host.failed(errorOf('EADDRNOTAVAIL'));
  host.failed(errorOf('ECONNREFUSED'));
  const text = await metrics.text();
  const counts = [...text.matchAll(/^switchhook_host_shortages_total\{code="(\w+)"\} (\d+)$/gm)];
  expect(Object.fromEntries(counts.map(([, code, count]) => [code, Number(count)]))).toEqual({
    ...{ EMFILE: 2, ENFILE: 0, ENOBUFS: 0, ENOMEM: 0, EADDRNOTAVAIL: 1 },
  });
});

it('shows a shortage for ten seconds', () => {
  expect(host.shortage).toBeUndefined();
  host.failed(errorOf('EMFILE'));
  vi.advanceTimersByTime(9_999);
  expect(host.shortage).toBe('EMFILE');
  vi.advanceTimersByTime(1);
  expect(host.shortage).toBeUndefined();
});

const limitsOf = (soft: string) =>
  [
    'Limit                     Soft Limit           Hard Limit           Units     ',
    'Max processes             63432                63432                processes ',
    `Max open files            ${soft.padEnd(21)}1048576              files     `,
  ].join('\n');

it.each([
  ['the soft limit', limitsOf('1024'), 1_024],
  ['no limit', limitsOf('unlimited'), Infinity],
  ['no limit without such a file', '', Infinity],
])('finds %s of open files', (_what, text, limit) => {
  expect(filesAllowed(text)).toBe(limit);
});

it('adds up the files that the settings allow a process to have open', () => {
  const config = readConfig({
    ...{ DATABASE_URL: 'postgres://unused', DATABASE_POOL_SIZE: '10' },
    ...{ MAX_CONNECTIONS: '3000', WORKER_CONCURRENCY: '200' },
  });
  expect(filesNeeded('api', config)).toBe(3_000 + 10 + 100);
  expect(filesNeeded('worker', config)).toBe((6 + 2) * 200 + 10 + 100);
});

it.each([
  ['below', 1e9, [[{ allowed: expect.any(Number) as number, needed: 1e9 + 110 }]]],
  ['above', 1, []],
])('warns when the limit of this process is %s what it needs', async (_what, most, warned) => {
  const config = readConfig({ DATABASE_URL: 'postgres://unused', DATABASE_POOL_SIZE: '10' });
  const warn = vi.fn<(fields: object) => void>();
  const log = { warn: (fields: object) => warn(fields) } as unknown as Log;
  await warnOfFewFiles('api', { ...config, MAX_CONNECTIONS: most }, log);
  expect(warn.mock.calls).toEqual(warned);
});
