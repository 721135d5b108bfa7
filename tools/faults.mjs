// `npm run test:faults`: does harm to a whole installation and counts what is lost (docs/reliability.md).
import { spawnSync } from 'node:child_process';
import { requireProgram } from './lib/apt.mjs';
import { runSuite } from './lib/suite.mjs';

const needs = process.argv.includes('--pgbouncer') ? () => requireProgram('pgbouncer') : undefined;
runSuite('faults', {
  needs,
  within: ([command, args]) => {
    // With mounts of its own where that is allowed: they go with it, however it ends.
    const unshare = ['--mount', '--propagation', 'private'];
    const isAllowed = spawnSync('unshare', [...unshare, 'true']).status === 0;
    return isAllowed ? ['unshare', [...unshare, command, ...args]] : [command, args];
  },
});
