import { canInstall, install, onPath } from './apt.mjs';
import { Problem } from './problem.mjs';

/** @throws Problem when there is no PgBouncer and no way for us to get one */
export async function requirePgBouncer() {
  if (onPath('pgbouncer')) return;
  if (!canInstall()) {
    throw new Problem(
      'pgbouncer is missing and can be installed only by root on Debian or Ubuntu: install it.',
    );
  }
  await install('pgbouncer');
}
