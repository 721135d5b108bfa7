import { execFile } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { eventually } from '#tools/eventually';
import { startPostgres } from '#tools/postgres';
import type { Program, Programs } from '#tools/programs';
import { startRedis } from '#tools/redis';

export const DATABASE = 'switchhook_test';

/** A store as `npm start` starts it: on a free port, ready. */
interface StartedStore {
  url: string;
  /** PostgreSQL URLs with the roles of the processes, which own nothing. */
  roleUrls?: { api: string; worker: string } | undefined;
  program: Program;
}

/** A store that can be ended and restarted; each start takes another port. */
abstract class Store {
  protected started: StartedStore | undefined;

  /** Its current or last URL. @throws Error before the first start */
  get url(): URL {
    return new URL(this.running.url);
  }

  get pid(): number {
    return this.running.program.pid;
  }

  get isRunning(): boolean {
    return this.running.program.ending === undefined;
  }

  /** Its output since it was started. */
  output(): string {
    return this.running.program.output();
  }

  async start(): Promise<void> {
    this.started = await this.launch();
  }

  /** Sends a signal, and waits for its end. */
  protected async end(signal: NodeJS.Signals): Promise<void> {
    this.running.program.signal(signal);
    await this.running.program.exited;
  }

  protected get running(): StartedStore {
    if (!this.started) throw new Error('the store was never started');
    return this.started;
  }

  protected abstract launch(): Promise<StartedStore>;
}

/**
 * PostgreSQL with its data in `dir`/postgres, with given or default settings, in the newest version or {@link
 * POSTGRES_15}, on a free port or always the same one.
 */
export class Postgres extends Store {
  constructor(
    private place: string,
    private readonly programs: Programs,
    private readonly settings: Record<string, string> = {},
    private readonly version?: string,
    private readonly port?: number,
  ) {
    super();
  }

  get dir(): string {
    return this.place;
  }

  get data(): string {
    return join(this.dir, 'postgres');
  }

  /** Like {@link url}, with the role of a process. */
  urlOf(process: 'api' | 'worker'): URL {
    return new URL(this.started?.roleUrls?.[process] ?? this.url);
  }

  /** Its fast shutdown, which aborts running transactions. */
  async stop(): Promise<void> {
    await this.end('SIGINT');
  }

  /** SIGKILL for the server and all its processes, as in a power failure. */
  async kill(): Promise<void> {
    const children = childrenOf(this.pid);
    const ended = this.end('SIGKILL');
    for (const pid of children) kill(pid);
    await ended;
  }

  /** The server and its processes. */
  get pids(): number[] {
    return [this.pid, ...childrenOf(this.pid)];
  }

  /** Runs one statement on its own connection, bypassing links. */
  async query<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = await this.connect();
    try {
      return (await client.query<Row>(text, values)).rows;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  async connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.url.toString() });
    // A statement that waits for its answer fails on its own.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** A backup of the running server: its files as they are, and the log since the start of the copy. */
  async backUp(to: string): Promise<void> {
    const client = await this.connect();
    await client.query(`SELECT pg_backup_start('faults', true)`);
    await mkdir(to, { recursive: true });
    await copy(this.data, join(to, 'postgres'));
    const { rows } = await client.query<{ labelfile: string }>(
      'SELECT * FROM pg_backup_stop(false)',
    );
    rmSync(join(to, 'postgres/pg_wal'), { recursive: true });
    await copy(join(this.data, 'pg_wal'), join(to, 'postgres/pg_wal'));
    rmSync(join(to, 'postgres/postmaster.pid'));
    const label = join(to, 'postgres/backup_label');
    writeFileSync(label, rows[0]?.labelfile ?? '');
    const { uid, gid } = statSync(this.data);
    chownSync(label, uid, gid);
    await client.end();
  }

  /**
   * A replica of the running server, which from now on waits for a synchronous one at each commit. @param dir for its data
   */
  async replicate(
    dir: string,
    { isSynchronous = false, port }: { isSynchronous?: boolean; port?: number } = {},
  ): Promise<Postgres> {
    const hba = join(this.data, 'pg_hba.conf');
    writeFileSync(hba, 'host replication all 127.0.0.1/32 scram-sha-256\n', { flag: 'a' });
    await this.query('SELECT pg_reload_conf()');
    await this.backUp(dir);
    await copy(join(this.place, 'postgres.json'), dir);
    writeFileSync(join(dir, 'postgres/standby.signal'), '');
    const { url } = this;
    const source = `host=${url.hostname} port=${url.port} user=${url.username} password=${url.password}`;
    const settings = { primary_conninfo: source };
    const replica = new Postgres(dir, this.programs, settings, this.version, port);
    await replica.start();
    if (isSynchronous) {
      await this.query(`ALTER SYSTEM SET synchronous_standby_names = '*'`);
      await this.query('SELECT pg_reload_conf()');
      await eventually(
        () => this.query<{ kind: string }>('SELECT sync_state AS kind FROM pg_stat_replication'),
        ([row]) => row?.kind === 'sync',
      );
    }
    return replica;
  }

  /** From now on its address leads to this promoted replica. */
  moveTo({ started, place }: Postgres): void {
    this.started = started;
    this.place = place;
  }

  /** Replaces the data with a backup; the server must not run. */
  async restore(from: string): Promise<void> {
    rmSync(this.data, { recursive: true });
    await copy(join(from, 'postgres'), this.data);
  }

  protected launch(): Promise<StartedStore> {
    const { place: dir, settings, version, port } = this;
    const ofVersion = version === undefined ? {} : { version };
    return startPostgres({ dir, database: DATABASE, settings, port, ...ofVersion }, this.programs);
  }
}

/** A Redis without persistence by default. */
export class RedisStore extends Store {
  constructor(
    private readonly dir: string,
    private readonly programs: Programs,
  ) {
    super();
  }

  async kill(): Promise<void> {
    await this.end('SIGKILL');
  }

  /** How many deliveries the jobs of the single queue hold: waiting ones, and active ones. */
  async jobs(): Promise<{ waiting: number; active: number }> {
    const client = new Redis(this.url.toString());
    try {
      return await jobsIn(client, 0);
    } finally {
      client.disconnect();
    }
  }

  /** Runs a command on its own connection, bypassing links. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(this.url.toString());
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  /** Saves its data to its directory, where the next start loads it. */
  async save(): Promise<void> {
    await this.command('SAVE');
  }

  protected launch(): Promise<StartedStore> {
    return startRedis(this.dir, this.programs);
  }
}

/** How many deliveries the jobs of a queue hold: waiting ones, and active ones. */
export async function jobsIn(
  client: Pick<Redis, 'eval'>,
  shard: number,
): Promise<{ waiting: number; active: number }> {
  const text = `
    local function held(list)
      local count = 0
      for _, id in ipairs(redis.call('LRANGE', KEYS[1] .. list, 0, -1)) do
        if redis.call('EXISTS', KEYS[1] .. id) == 1 then
          local _, commas = string.gsub(id, ',', '')
          count = count + commas + 1
        end
      end
      return count
    end
    return {held('wait'), held('active')}`;
  const key = `{switchhook:${String(shard)}}:deliveries-${String(shard)}:`;
  const [waiting = 0, active = 0] = (await client.eval(text, 1, key)) as number[];
  return { waiting, active };
}

/** Copies a tree with its owners, which `cp` of Node.js does not keep. */
export async function copy(from: string, to: string): Promise<void> {
  try {
    await promisify(execFile)('cp', ['-a', from, to]);
  } catch (error) {
    // If it matters, the log has what a running server removed during the copy.
    const lines = String((error as { stderr?: unknown }).stderr)
      .trim()
      .split('\n');
    if (!lines.every((line) => /No such file/.test(line))) throw error;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    })
    .map(Number);
}
