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

/** Where the API is reached: through the proxy, and at the ports of containers of the last release. */
async function addresses(): Promise<string[]> {
  const containers = await installation.containers('api');
  const published = containers.map((container) =>
    run('docker', ['port', container, '3000']).catch(() => ''),
  );
  const own = (await Promise.all(published)).filter(Boolean).map((told) => `http://${told.trim()}`);
  return [installation.url, ...own];
}

const processes = () => installation.containers('api', 'worker');

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
    await installation.compose('stop', '-t', '30', 'api', 'worker');
    await installation.compose('run', '--rm', '--no-deps', 'migrate');
    const scale = ['--scale', 'api=2', '--scale', 'worker=2'];
    const options = ['--no-deps', '--no-build', '--wait', ...scale];
    await installation.compose('up', '-d', ...options, 'api', 'worker', 'proxy');
  };
  await during(upgrade, () => installation.report(50, addresses));
  await installation.delivered();
  expect(await imagesNow()).toEqual(Array(4).fill(`switchhook:${NOW}`));
  expect(installation.reported).toBeGreaterThan(100);
});

it('its processes are replaced one by one under load, and nothing is lost', async () => {
  const [before, reported] = [await processes(), installation.reported];
  // As docs/operating/upgrade.md says.
  const replace = async () => {
    for (const container of before) {
      await run('docker', ['stop', '-t', '30', container]);
      await run('docker', ['rm', container]);
      const options = ['--no-deps', '--no-recreate', '--no-build', '--wait'];
      const scale = ['--scale', 'api=2', '--scale', 'worker=2'];
      await installation.compose('up', '-d', ...options, ...scale, 'api', 'worker');
    }
  };
  await during(replace, () => installation.report(50));
  await installation.delivered();
  const now = await processes();
  expect(now).toHaveLength(4);
  expect(now.filter((container) => before.includes(container))).toEqual([]);
  expect(installation.reported).toBeGreaterThan(reported + 100);
});
