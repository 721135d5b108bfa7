import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import type { Row, Scenario } from '../harness/scenario.js';
import type { Site } from '../harness/site.js';

export const coldStart: Scenario = {
  name: 'cold-start',
  about: 'a second `npm start`, until it says that it is ready',
  async run(site, { rounds }): Promise<Row[]> {
    const dir = join(site.dir, 'start');
    mkdirSync(dir, { recursive: true });
    await start(site, dir);
    const values: number[] = [];
    for (let round = 0; round < rounds; round += 1) values.push(await start(site, dir));
    return [{ what: 'second npm start to ready', values, unit: 's', bound: { atMost: 3 } }];
  },
};

/** Starts, and stops again. @returns seconds until it was ready */
async function start({ programs }: Site, dir: string): Promise<number> {
  const env = { PATH: process.env.PATH, DATA_DIR: dir, PORT: String(await freePort()) };
  const from = performance.now();
  const program = programs.start('start', 'npm', ['start'], { cwd: ROOT, env });
  await program.ready(() => program.output().includes('\nready '), 120_000);
  const seconds = (performance.now() - from) / 1_000;
  program.signal('SIGINT');
  await program.exited;
  return seconds;
}
