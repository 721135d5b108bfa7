import { randomBytes } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import { answersOk, freePort } from '#tools/net';
import { Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';
import type { Environment } from '../../support/environment.js';
import { ServiceProcess } from '../../support/service-process.js';
import { Postgres, RedisStore } from '../../support/stores.js';
import type { Database } from './database.js';
import { Deployment, PLATFORM } from './deployment.js';
import { Receiver } from './receiver.js';

const CLI = 'dist/apps/cli/src/main.js';
const BASELINES = fileURLToPath(new URL('../baselines/', import.meta.url));

/** As in production on a small server; fsync keeps PostgreSQL's default. */
const POSTGRES = {
  shared_buffers: '512MB',
  effective_cache_size: '2GB',
  min_wal_size: '2GB',
  max_wal_size: '4GB',
  checkpoint_timeout: '15min',
  random_page_cost: '1.1',
};

/** PostgreSQL's log files of 16 MB each that exist for reuse before the measurements. */
const USED_WAL_FILES = 64;

/** Our processes and their settings. */
export interface Deploy {
  apis?: number;
  workers?: number;
  environment?: Environment;
  /** Options of Node.js, by the name of the process. */
  nodeOptions?: (name: string) => readonly string[];
}

/** A bare program to compare a process with. */
export interface Baseline {
  pid: number;
  origin: string;
  end: () => void;
}

/** The machine of a benchmark: PostgreSQL, Redis and a receiver. */
export class Site {
  private readonly secretsKey = `bench:${randomBytes(32).toString('base64')}`;
  private readonly databases: Database[] = [];
  /** Unexpected ends of processes. */
  private readonly unexpectedEnds: string[] = [];

  private constructor(
    readonly dir: string,
    /** Of the measured build. */
    private readonly root: string,
    readonly programs: Programs,
    readonly postgres: Postgres,
    readonly redis: RedisStore,
    readonly receiver: Receiver,
  ) {}

  /**
   * @param root of the measured build
   * @param settings of PostgreSQL, in addition to the common ones
   */
  static async start(
    dir: string,
    root: string,
    settings: Record<string, string> = {},
  ): Promise<Site> {
    mkdirSync(dir, { recursive: true });
    const programs = new Programs(join(dir, 'logs'));
    const postgres = new Postgres(dir, programs, { ...POSTGRES, ...settings });
    const redis = new RedisStore(dir, programs);
    await Promise.all([postgres.start(), redis.start()]);
    await makeUsedWal(postgres);
    return new Site(dir, root, programs, postgres, redis, await Receiver.start(programs));
  }

  /** A new database, migrated, with the platform's user. @param settings of `migrate` */
  async database(name: string, settings: Environment = {}): Promise<Database> {
    await this.postgres.query(`CREATE DATABASE ${name}`);
    const database = {
      name,
      redisNumber: this.databases.length,
      pool: new pg.Pool({ connectionString: this.urlOf(this.postgres.url, name), max: 2 }),
    };
    this.databases.push(database);
    const env = {
      PATH: process.env.PATH,
      DATABASE_URL: this.urlOf(this.postgres.url, name),
      DATABASE_API_ROLE: this.postgres.urlOf('api').username,
      DATABASE_WORKER_ROLE: this.postgres.urlOf('worker').username,
      ...settings,
    };
    const cli = (args: string[], input = '') =>
      this.programs.run('setup', process.execPath, [CLI, ...args], { cwd: this.root, env, input });
    await cli(['migrate']);
    const [username = '', password] = PLATFORM.split(':');
    await cli(['users', 'create', username, '--role', 'platform', '--password-stdin'], password);
    return database;
  }

  /** Starts APIs and workers on a database. */
  async deploy(database: Database, given: Deploy = {}): Promise<Deployment> {
    const { apis = 1, workers = 1, environment = {}, nodeOptions = () => [] } = given;
    const create = async (kind: 'api' | 'worker', number: number) => {
      const name = `${kind}-${String(number)}`;
      const env = {
        DATABASE_URL: this.urlOf(this.postgres.urlOf(kind), database.name),
        REDIS_URL: new URL(`/${String(database.redisNumber)}`, this.redis.url).toString(),
        NODE_ENV: 'production',
        SECRETS_KEYS: this.secretsKey,
        DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
        SHUTDOWN_DELAY_MS: '0',
        ...environment,
      };
      return new ServiceProcess({
        name,
        kind,
        port: await freePort(),
        programs: this.programs,
        environment: () => env,
        nodeOptions: nodeOptions(name),
        root: this.root,
        onUnexpectedEnd: (how) => void this.unexpectedEnds.push(how),
      });
    };
    const all = (kind: 'api' | 'worker', count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => create(kind, index + 1)));
    const deployment = new Deployment(
      this.receiver,
      database,
      await all('api', apis),
      await all('worker', workers),
    );
    await deployment.start();
    return deployment;
  }

  /** Starts a baseline, whose first argument is its port. */
  async baseline(name: string, ...args: string[]): Promise<Baseline> {
    const port = await freePort();
    const main = join(BASELINES, `${name}.main.js`);
    const env = { PATH: process.env.PATH, NODE_ENV: 'production' };
    const all = [main, String(port), ...args];
    const origin = `http://127.0.0.1:${String(port)}`;
    const program = this.programs.start(name, process.execPath, all, { cwd: ROOT, env });
    await program.ready(() => answersOk(`${origin}/health/ready`), 60_000);
    return { pid: program.pid, origin, end: () => void program.kill() };
  }

  /** The database's URL for a baseline, as its owner. */
  ownerUrl(database: Database): string {
    return this.urlOf(this.postgres.url, database.name);
  }

  /** @throws Error if a process has ended unexpectedly, which invalidates all measurements */
  async end(): Promise<void> {
    const ends = [...this.unexpectedEnds];
    await Promise.all(this.databases.map(({ pool }) => pool.end()));
    await this.programs.kill();
    if (ends.length > 0) throw new Error(ends.join('\n'));
  }

  private urlOf(of: URL, database: string): string {
    const url = new URL(of);
    url.pathname = `/${database}`;
    return url.toString();
  }
}

/**
 * A server that has run for a day reuses old log files. A new one first fills a file with zeros, every 16 MB, and
 * blocks commits for 50 ms: that would be the p99 of all latencies.
 */
async function makeUsedWal(postgres: Postgres): Promise<void> {
  for (let made = 0; made < USED_WAL_FILES; made += 1) {
    await postgres.query(`SELECT pg_logical_emit_message(false, 'bench', '')`);
    await postgres.query('SELECT pg_switch_wal()');
  }
  await postgres.query('CHECKPOINT');
}
