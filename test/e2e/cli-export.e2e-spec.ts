import { appendFile, mkdtemp, readFile, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CliCustomer } from '../support/cli-customer.js';
import { aSubscription } from '../support/rows.js';

const cli = new CliCustomer();
const { run, report } = cli;

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'switchhook-export-'));
  file = join(folder, 'export');
});
afterEach(() => rm(folder, { recursive: true }));

/** @returns their ids, newest first */
async function reported(count: number, data = '{"call": "a\\n",\n "n": 1.0}'): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) ids.unshift(await report(data));
  return ids;
}

const idsIn = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);

it('exports events to standard output or to a file, with filters', async () => {
  const ids = await reported(3);
  const { code, stdout, stderr } = await run('events', 'export');
  expect([code, idsIn(stdout)]).toEqual([0, ids]);
  expect(stderr).toMatch(/^3 events, \d+\.\d s\n$/);
  const written = await run('events', 'export', '--data', '--contains', '"n": 1.0', '-o', file);
  expect([written.code, written.stdout]).toEqual([0, '']);
  expect(written.stderr).toContain(`3 events in ${file}, `);
  const text = await readFile(file, 'utf8');
  expect(idsIn(text)).toEqual(ids);
  expect(text).toContain('"data":{"call": "a\\n",  "n": 1.0}}\n');
  expect((await run('events', 'export', '--contains', 'n": 2', '--json')).stdout).toBe('');
  expect(idsIn((await run('events', 'export', '--limit', '2')).stdout)).toEqual(ids.slice(0, 2));
  const one = await run('events', 'export', '--limit', '1');
  expect(one.stderr).toMatch(/^1 event, /);
  const missing = await aSubscription(cli.database, cli.account.id);
  expect(idsIn((await run('events', 'export', '--missed-by', missing)).stdout)).toEqual(ids);
});

it('exports deliveries as CSV, also by the name of the file', async () => {
  const webhook = await aSubscription(cli.database, cli.account.id, {
    target_url: cli.receiver.url,
  });
  const [event] = await reported(1);
  const csv = await run('deliveries', 'export', '--format', 'csv', '--webhook', webhook);
  const [header, row] = csv.stdout.split('\r\n');
  expect(header).toMatch(/^id,href,eventId,/);
  expect(row).toContain(`,${event!},${webhook},`);
  await run('deliveries', 'export', '--notification', '-o', `${file}.csv`);
  const text = await readFile(`${file}.csv`, 'utf8');
  expect(text).toMatch(/,notification\r\n/);
  expect(text).toContain('{""call"": ""a\\n"",\n ""n"": 1.0}');
});

it.each(['ndjson', 'csv'])(
  'continues after the last complete line of a %s file',
  async (format) => {
    await reported(5);
    const exported = (...args: string[]) =>
      run('events', 'export', '--data', '--format', format, '-o', file, ...args);
    await exported();
    const whole = await readFile(file);
    const again = await exported();
    expect([again.code, again.stderr]).toEqual([
      1,
      expect.stringContaining('exists: --resume continues it'),
    ]);
    for (const end of [0, 5, 300, whole.length - 1, whole.length]) {
      await truncate(file, end);
      const { code, stderr } = await exported('--resume');
      expect([end, code, stderr]).toEqual([end, 0, expect.stringContaining('5 events in')]);
      expect((await readFile(file)).equals(whole)).toBe(true);
    }
    await appendFile(file, 'x');
    await exported('--resume', '--limit', '3');
    expect((await readFile(file)).equals(whole)).toBe(true);
    await truncate(file, 0);
    await appendFile(file, 'a,b\nc,d\n');
    const { stderr } = await exported('--resume');
    expect(stderr).toContain(`is no export in the format ${format}.`);
  },
);

it.each([
  ['a CSV file without the data', 'x.csv', ['events'], ['events', '--data']],
  ['a CSV file with the data', 'x.csv', ['events', '--data'], ['events']],
  ['an NDJSON file without the data', 'x', ['events'], ['events', '--data']],
  ['an NDJSON file with the data', 'x', ['events', '--data'], ['events']],
  ['NDJSON in a file with the name of CSV', 'x.csv', ['events', '--format', 'ndjson'], ['events']],
  ['CSV in a file without its name', 'x', ['events', '--format', 'csv'], ['events']],
  ['events as CSV', 'x.csv', ['events'], ['deliveries']],
  ['events as NDJSON', 'x', ['events'], ['deliveries']],
])('does not continue with other columns after %s', async (_, name, [list, ...first], next) => {
  await reported(2, '{"odd": "\\""}');
  const output = join(folder, name);
  expect((await run(list!, 'export', ...first, '-o', output)).code).toBe(0);
  await appendFile(output, '{"id":"cut');
  const before = await readFile(output, 'utf8');
  const [other, ...options] = next;
  const { code, stderr } = await run(other!, 'export', ...options, '-o', output, '--resume');
  expect([code, stderr]).toEqual([
    1,
    `${output} has other columns; repeat the options of the first export.\n`,
  ]);
  expect(await readFile(output, 'utf8')).toBe(before);
});

it('empties no file that is none of its own', async () => {
  for (const name of ['notes', 'notes.csv']) {
    const output = join(folder, name);
    await appendFile(output, 'Buy milk');
    const { code } = await run('events', 'export', '-o', output, '--resume');
    expect([name, code, await readFile(output, 'utf8')]).toEqual([name, 1, 'Buy milk']);
  }
});

it('leaves no file behind when the first request is refused', async () => {
  const [id] = await reported(1);
  const refused = await run('events', 'export', '--since', 'yesterday', '-o', file);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('since must be')]);
  expect((await run('events', 'export', '-o', file)).code).toBe(0);
  expect(idsIn(await readFile(file, 'utf8'))).toEqual([id]);
});

it('says what is wrong with options', async () => {
  for (const [args, code, message] of [
    [['--resume'], 2, '--resume needs --output'],
    [['--format', 'xml'], 2, 'Allowed choices are ndjson, csv.'],
    [['--limit', '0'], 2, 'It must be a whole number'],
    [['--contains', 'ab'], 1, 'contains must have 3 to 200 characters'],
    [['-o', join(folder, 'none', 'x')], 1, 'cannot be written (ENOENT)'],
    [['-o', '/dev/zero', '--resume'], 1, '/dev/zero is not a regular file.'],
  ] as const) {
    const ended = await run('events', 'export', ...args);
    expect([args, ended.code, ended.stderr]).toEqual([
      args,
      code,
      expect.stringContaining(message),
    ]);
  }
});
