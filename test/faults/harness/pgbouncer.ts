import { readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from '#tools/net';
import type { Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';
import type { Postgres } from '../../support/stores.js';
import { Link } from './link.js';

/** Like PostgreSQL, PgBouncer refuses to run as root. */
const NOBODY = 65_534;
const SETTINGS = 'pgbouncer.ini';
const USERS = 'users.txt';
const READY_MS = 10_000;

/** PgBouncer in transaction mode, with docker compose's settings, in front of PostgreSQL's current address. */
export class PgBouncer {
  private constructor(
    private readonly postgres: Postgres,
    private readonly port: number,
  ) {}

  /**
   * @param dir where it writes its settings
   */
  static async start(dir: string, postgres: Postgres, programs: Programs): Promise<PgBouncer> {
    const link = new Link(() => postgres.url);
    await link.listen();
    const port = await freePort();
    const roles = (['api', 'worker'] as const).map((kind) => postgres.urlOf(kind));
    const users = roles.map(({ username, password }) => `"${username}" "${password}"\n`);
    const settings = readFileSync(join(ROOT, 'tools/database', SETTINGS), 'utf8')
      .replace('host=postgres port=5432', `host=127.0.0.1 port=${new URL(link.url).port}`)
      .replace('listen_addr = *', 'listen_addr = 127.0.0.1')
      .replace('listen_port = 6432', `listen_port = ${port}`)
      .replace('/tmp/users.txt', USERS);
    await mkdir(dir, { mode: 0o755 });
    await writeFile(join(dir, USERS), users.join(''));
    await writeFile(join(dir, SETTINGS), settings);
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    // It reads its files from its working directory, because it may not read the parent directories.
    const options = { cwd: dir, ...user };
    const program = programs.start('pgbouncer', 'pgbouncer', [SETTINGS], options);
    void program.exited.then(() => link.close());
    const started = new PgBouncer(postgres, port);
    await program.ready(() => started.answers(), READY_MS);
    return started;
  }

  /** PostgreSQL's URL, but through PgBouncer. */
  urlOf(process: 'api' | 'worker'): URL {
    const url = this.postgres.urlOf(process);
    url.port = String(this.port);
    return url;
  }

  private async answers(): Promise<boolean> {
    const client = new pg.Client({ connectionString: this.urlOf('api').toString() });
    client.on('error', () => undefined);
    const isThere = await client.connect().then(
      () => true,
      () => false,
    );
    await client.end().catch(() => undefined);
    return isThere;
  }
}
