import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { CliCustomer } from '../support/cli-customer.js';
import { RunningCommand } from '../support/command-line.js';
import { proxyTo } from '../support/tcp-proxy.js';

const cli = new CliCustomer();
const { run, start, report } = cli;

let dir: string;
let cursorFile: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'follow-'));
  cursorFile = join(dir, 'cursor');
});
afterEach(() => rm(dir, { recursive: true }));

const cursor = () => readFile(cursorFile, 'utf8').catch(() => '');
const hasCursor = () => eventually(cursor, (text) => text !== '', { what: 'there is a cursor' });
const idsIn = (text: string) =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => (JSON.parse(line) as { id: string }).id);

it('prints events from now on as lines of JSON, with their data in one line', async () => {
  await report();
  const command = start('events', 'follow', '--cursor-file', cursorFile);
  await hasCursor();
  const id = await report('{"n":12345678901234567890,\n "n":1.10}');
  const [line = ''] = await command.printed(/\{.*\}\n/);
  expect(line).toContain('"data":{"n":12345678901234567890,  "n":1.10}');
  const { code, stdout, stderr } = await command.stop();
  expect([code, stderr, idsIn(stdout)]).toEqual([0, '', [id]]);
});

it('goes on where the file says, also after kill -9', async () => {
  const first = start('events', 'follow', '--cursor-file', cursorFile);
  await hasCursor();
  const ids = [await report(), await report()];
  await first.printed(new RegExp(ids[1]!));
  await eventually(cursor, (text) => text.trim() >= ids[1]!, { what: 'the cursor was kept' });
  await first.stop('SIGKILL');
  ids.push(await report());
  // The options say where to begin only if there is no file.
  const second = start(
    'events',
    'follow',
    '--cursor-file',
    cursorFile,
    '--since',
    '2020-01-01T00:00:00Z',
  );
  await second.printed(new RegExp(ids[2]!));
  const { stdout } = await second.stop();
  expect(idsIn(stdout)).toEqual(ids.slice(2));
  expect(await readdir(dir)).toEqual(['cursor']);
});

it('begins after a cursor or at a time, and prints what filters select', async () => {
  const ids = [await report(), await report('{}', 'smsdlr'), await report()];
  const after = start('events', 'follow', '--after', ids[0]!);
  await after.printed(new RegExp(ids[2]!));
  const { stdout } = await after.stop();
  expect(idsIn(stdout)).toEqual(ids.slice(1));
  const filtered = start(
    ...['events', 'follow', '--since', '2020-01-01T00:00:00Z', '--event', 'cdrCreated'],
  );
  await filtered.printed(new RegExp(ids[2]!));
  expect(idsIn((await filtered.stop()).stdout)).toEqual([ids[0], ids[2]]);
});

it('outlasts a restart of the API', async () => {
  const proxy = await proxyTo(cli.api.url);
  const login = ['--url', proxy.address, '--user', cli.name, '--password-stdin'];
  const command = new RunningCommand(['events', 'follow', '--cursor-file', cursorFile, ...login], {
    input: cli.input,
  });
  cli.running.push(command);
  await hasCursor();
  proxy.down();
  const ids = [await report()];
  const complained = () => command.errors().includes('cannot be reached');
  await eventually(complained, Boolean, { what: 'the command tries again' });
  proxy.up();
  ids.push(await report());
  await command.printed(new RegExp(ids[1]!));
  const { code, stdout } = await command.stop();
  expect([code, idsIn(stdout)]).toEqual([0, ids]);
  await proxy.close();
});

it('says what is wrong with a cursor, a file or a filter', async () => {
  await writeFile(cursorFile, 'nonsense');
  const file = await run('events', 'follow', '--cursor-file', cursorFile);
  expect([file.code, file.stderr]).toEqual([1, `${cursorFile} has no cursor.\n`]);
  const directory = await run('events', 'follow', '--cursor-file', dir);
  expect([directory.code, directory.stderr]).toEqual([1, `${dir} cannot be read (EISDIR).\n`]);
  const text = await run('events', 'follow', '--after', 'nonsense');
  expect([text.code, text.stderr]).toEqual([
    1,
    expect.stringContaining('must be a cursor, as in the header Switchhook-Cursor'),
  ]);
  const old = await run('events', 'follow', '--after', '01900000-0000-7000-8000-000000000000');
  expect([old.code, old.stderr]).toEqual([
    1,
    expect.stringContaining('The oldest cursor that works is'),
  ]);
});
