// `npm run test:faults`: injects faults into a whole installation and counts what is lost (docs/reliability.md).
import { spawnSync } from 'node:child_process';
import { requireProgram } from './lib/apt.mjs';
import { runSuite } from './lib/suite.mjs';

const needs = process.argv.includes('--pgbouncer') ? () => requireProgram('pgbouncer') : undefined;
runSuite('faults', {
  needs,
  within: ([command, args]) => {
    // In its own mount namespace where that is allowed, so that the mounts always go away with it.
    const unshare = ['--mount', '--propagation', 'private'];
    const isAllowed = spawnSync('unshare', [...unshare, 'true']).status === 0;
    return isAllowed ? ['unshare', [...unshare, command, ...args]] : [command, args];
  },
});
