// `npm run test:containers`: builds the image, and starts, uses, upgrades and stops the installation of
// docker-compose.yml. It needs a container runtime that `docker compose` reaches (docs/developing.md).
import { spawnSync } from 'node:child_process';
import { runVitest } from './lib/run-vitest.mjs';

/** @param {string[]} args */
const answers = (...args) => spawnSync('docker', args, { stdio: 'ignore' }).status === 0;

if (answers('info') && answers('compose', 'version')) {
  // One file after the other: their installations have the same PROXY_NETWORK.
  const options = ['--no-file-parallelism', '--testTimeout=900000'];
  runVitest(['--project=containers', ...options, ...process.argv.slice(2)]);
} else {
  console.error(
    'no container runtime: `docker info` and `docker compose version` must work (docs/developing.md, "Containers").',
  );
  process.exitCode = 1;
}
