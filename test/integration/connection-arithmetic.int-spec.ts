import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import {
  CONNECTION_BYTES,
  MAX_UNAUTHENTICATED_BYTES,
  MAX_UNAUTHENTICATED_BYTES_OF_ADDRESS,
  REQUEST_BYTES,
} from '#libs/http';
import { readConfig } from '#libs/runtime';

const KIB = 1 << 10;
const MIB = 1 << 20;
const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const textOf = (path: string) => readFileSync(ROOT + path, 'utf8');

const { MAX_CONNECTIONS } = readConfig({ DATABASE_URL: 'postgres://unused' });

/** The numbers in a row of the table: KiB of each, how many, MiB in all. */
function row(what: string): (number | undefined)[] {
  const line = textOf('docs/security/defences/strangers.md')
    .split('\n')
    .find((one) => one.replaceAll('*', '').startsWith(`| ${what}`));
  const cells = line!.replaceAll('*', '').split('|').slice(2, 5);
  return cells.map((cell) => (cell.trim() === '' ? undefined : Number(cell)));
}

describe('the arithmetic of connections in docs/security/defences/strangers.md', () => {
  it('has the limits of the code', () => {
    const each = CONNECTION_BYTES / KIB;
    const [all, ofAddress] = [MAX_UNAUTHENTICATED_BYTES, MAX_UNAUTHENTICATED_BYTES_OF_ADDRESS];
    expect(row('connections without credentials')).toEqual([
      each,
      Math.floor(all / CONNECTION_BYTES),
      all / MIB,
    ]);
    expect(row('the same, of one address')).toEqual([
      each,
      Math.floor(ofAddress / CONNECTION_BYTES),
      ofAddress / MIB,
    ]);
    expect(row('each of their requests')).toEqual([REQUEST_BYTES / KIB, undefined, undefined]);
    expect(row('all other connections')).toEqual([
      each,
      MAX_CONNECTIONS,
      Math.round((MAX_CONNECTIONS * CONNECTION_BYTES) / MIB),
    ]);
  });

  it('fits into the container, and leaves half of it to a flood without credentials', () => {
    const inAll = (what: string) => row(what)[2]!;
    const strangers = inAll('connections without credentials') + inAll('garbage of these');
    const itself = inAll('a process itself');
    expect(inAll('all of it')).toBe(itself + strangers + inAll('all other connections'));
    expect(itself + strangers).toBeLessThanOrEqual(256);
    const [, limit] = /memory: (\d+)Mi/.exec(
      /limits:.*$/m.exec(textOf('tools/kubernetes/base/api.yaml'))![0],
    )!;
    expect(inAll('the container')).toBe(Number(limit));
    expect(inAll('all of it')).toBeLessThan(inAll('the container') - 128);
  });
});
