import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';
import { Postgres } from '../../support/stores.js';

const CLI = join(ROOT, 'dist/apps/cli/src/main.js');

/** Users of every installation, as `username:password`. */
export const CUSTOMER = 'customer:customer-secret';
export const PLATFORM = 'platform:platform-secret';

/** The initial data of every installation: migrated, with its two users. */
export class Template {
  private constructor(readonly dir: string) {}

  static async make(dir: string): Promise<Template> {
    await mkdir(dir, { recursive: true });
    const programs = new Programs(join(dir, 'logs'));
    const postgres = new Postgres(dir, programs);
    try {
      await postgres.start();
      const env = {
        PATH: process.env.PATH,
        DATABASE_URL: postgres.url.toString(),
        DATABASE_API_ROLE: postgres.urlOf('api').username,
        DATABASE_WORKER_ROLE: postgres.urlOf('worker').username,
      };
      const cli = (args: string[], input?: string) =>
        programs.run('setup', process.execPath, [CLI, ...args], {
          cwd: ROOT,
          env,
          ...(input !== undefined && { input }),
        });
      await cli(['migrate']);
      await cli(['users', 'create', 'customer', '--password-stdin'], 'customer-secret');
      const platform = ['users', 'create', 'platform', '--role', 'platform', '--password-stdin'];
      await cli(platform, 'platform-secret');
      await postgres.stop();
    } finally {
      await programs.kill();
    }
    return new Template(dir);
  }
}
