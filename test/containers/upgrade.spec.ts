import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { during, Installation, run } from './support.js';

const BEFORE = `test-${randomBytes(4).toString('hex')}`;
const NOW = `test-${randomBytes(4).toString('hex')}`;

let dir: string;
let installation: Installation;

/** The files of the last release in the history of this clone. */
async function releaseIn(target: string): Promise<void> {
  const log = ['log', '-1', '--format=%H', '--grep', '^chore: release '];
  const commit = (await run('git', log)).trim();
  if (commit === '') throw new Error('this clone does not have the commit of the last release');
  await run('sh', ['-c', `git archive ${commit} | tar -x -C ${target}`]);
}

const build = (source: string, tag: string) =>
  run('docker', ['build', '-f', `${source}/tools/Dockerfile`, '-t', `switchhook:${tag}`, source]);

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'release-'));
  await releaseIn(dir);
  await build(dir, BEFORE);
  await build(ROOT, NOW);
  installation = await Installation.create(BEFORE, () => randomBytes(24).toString('hex'));
}, 900_000);
afterAll(async () => {
  await installation.remove();
  await run('docker', ['rmi', '--force', `switchhook:${BEFORE}`, `switchhook:${NOW}`]);
  rmSync(dir, { recursive: true, force: true });
});

/** Replaces the processes one by one, as docs/operating/upgrade.md says. */
async function replaceProcesses(): Promise<void> {
  for (const container of await installation.containers('api', 'worker')) {
    await run('docker', ['stop', '-t', '30', container]);
    await run('docker', ['rm', container]);
    const options = ['--no-deps', '--no-recreate', '--no-build', '--wait'];
    const scale = ['--scale', 'api=2', '--scale', 'worker=2'];
    await installation.compose('up', '-d', ...options, ...scale, 'api', 'worker');
  }
}

/** Where the API is reached: through the proxy, and at the ports of containers of the last release. */
async function addresses(): Promise<string[]> {
  const containers = await installation.containers('api');
  const published = containers.map((container) =>
    run('docker', ['port', container, '3000']).catch(() => ''),
  );
  const own = (await Promise.all(published)).filter(Boolean).map((told) => `http://${told.trim()}`);
  return [installation.url, ...own];
}

const imagesNow = () => installation.inspect('{{.Config.Image}}', 'api', 'worker');

it('an installation of the last release is upgraded under load, and loses nothing', async () => {
  const [, receiver = ''] = installation.files;
  const now = installation.files;
  installation.set({ BEFORE_IMAGE: `switchhook:${BEFORE}` });
  installation.files = [
    join(dir, 'docker-compose.yml'),
    receiver,
    join(ROOT, 'test/containers/before.yml'),
  ];
  await installation.up('api=2', 'worker=2');
  await installation.subscribe(await installation.addressOf('api', 3000));

  installation.files = now;
  installation.set({ SWITCHHOOK_TAG: NOW, PORT: String(await freePort()) });
  const upgrade = async () => {
    await installation.compose('run', '--rm', '--no-deps', 'migrate');
    await installation.compose('up', '-d', '--no-deps', '--no-build', 'proxy');
    await replaceProcesses();
  };
  await during(upgrade, () => installation.report(50, addresses));
  await installation.delivered();
  expect(await imagesNow()).toEqual(Array(4).fill(`switchhook:${NOW}`));
  expect(installation.reported).toBeGreaterThan(100);
});

it('it goes back to the last release under load, and loses nothing', async () => {
  const before = installation.reported;
  installation.set({
    SWITCHHOOK_TAG: BEFORE,
    REDIS_URL: `redis://:${installation.settings.REDIS_PASSWORD!}@redis:6379`,
  });
  await during(replaceProcesses, () => installation.report(50));
  await installation.delivered();
  expect(await imagesNow()).toEqual(Array(4).fill(`switchhook:${BEFORE}`));
  expect(installation.reported).toBeGreaterThan(before + 100);
});
