import { execFile } from 'node:child_process';
import { chownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startPostgres } from '#tools/postgres';
import type { Program, Programs } from '#tools/programs';
import { startRedis } from '#tools/redis';

export const DATABASE = 'switchhook_test';

/** A store as `npm start` starts it: on a free port, ready. */
interface StartedStore {
  url: string;
  /** Of PostgreSQL: as whom the processes come, who own nothing. */
  roleUrls?: { api: string; worker: string } | undefined;
  program: Program;
}

/** A store that can be ended and started again; each start takes another port. */
abstract class Store {
  protected started: StartedStore | undefined;

  /** Where it listens now, or did last. @throws Error before the first start */
  get url(): URL {
    return new URL(this.running.url);
  }

  get pid(): number {
    return this.running.program.pid;
  }

  get isRunning(): boolean {
    return this.running.program.ending === undefined;
  }

  /** What it has written since it was started. */
  output(): string {
    return this.running.program.output();
  }

  async start(): Promise<void> {
    this.started = await this.launch();
  }

  /** Sends it a signal, and waits for its end. */
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
 * PostgreSQL with its data in `dir`/postgres, with settings of its own or PostgreSQL's, and of the newest
 * version or {@link POSTGRES_15}.
 */
export class Postgres extends Store {
  constructor(
    private place: string,
    private readonly programs: Programs,
    private readonly settings: Record<string, string> = {},
    private readonly version?: string,
  ) {
    super();
  }

  get dir(): string {
    return this.place;
  }

  get data(): string {
    return join(this.dir, 'postgres');
  }

  /** Like {@link url}, as a process comes. */
  urlOf(process: 'api' | 'worker'): URL {
    return new URL(this.started?.roleUrls?.[process] ?? this.url);
  }

  /** Its fast shutdown, which breaks off what is under way. */
  async stop(): Promise<void> {
    await this.end('SIGINT');
  }

  /** SIGKILL for the server and for every process of its own, as when the power goes. */
  async kill(): Promise<void> {
    const children = childrenOf(this.pid);
    const ended = this.end('SIGKILL');
    for (const pid of children) kill(pid);
    await ended;
  }

  /** The server, and the processes of its own. */
  get pids(): number[] {
    return [this.pid, ...childrenOf(this.pid)];
  }

  /** One statement on a connection of its own, not through any link. */
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
    // A statement that waits for its answer fails by itself.
    client.on('error', () => undefined);
    await client.connect();
    return client;
  }

  /** A backup of the running server: its files as they are, and the log from the start of the copy on. */
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

  /** An asynchronous replica of the running server, which it streams to. @param dir of its own */
  async replicate(dir: string): Promise<Postgres> {
    const hba = join(this.data, 'pg_hba.conf');
    writeFileSync(hba, 'host replication all 127.0.0.1/32 scram-sha-256\n', { flag: 'a' });
    await this.query('SELECT pg_reload_conf()');
    await this.backUp(dir);
    await copy(join(this.place, 'postgres.json'), dir);
    writeFileSync(join(dir, 'postgres/standby.signal'), '');
    const { hostname, port, username, password } = this.url;
    const source = `host=${hostname} port=${port} user=${username} password=${password}`;
    const replica = new Postgres(dir, this.programs, { primary_conninfo: source });
    await replica.start();
    return replica;
  }

  /** From now on this is a replica that was promoted, as for those who reach it by its address. */
  moveTo({ started, place }: Postgres): void {
    this.started = started;
    this.place = place;
  }

  /** Puts a backup in the place of the data; the server must not run. */
  async restore(from: string): Promise<void> {
    rmSync(this.data, { recursive: true });
    await copy(join(from, 'postgres'), this.data);
  }

  protected launch(): Promise<StartedStore> {
    const { place: dir, settings, version } = this;
    const ofVersion = version === undefined ? {} : { version };
    return startPostgres({ dir, database: DATABASE, settings, ...ofVersion }, this.programs);
  }
}

/** A Redis that writes nothing to its disk unless it is told to. */
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

  /** How many deliveries the jobs of the one queue hold that wait, and that are being taken in. */
  async jobs(): Promise<{ waiting: number; active: number }> {
    const client = new Redis(this.url.toString());
    try {
      return await jobsIn(client, 0);
    } finally {
      client.disconnect();
    }
  }

  /** A command on a connection of its own, not through any link. */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(this.url.toString());
    try {
      return await client.call(name, ...args);
    } finally {
      client.disconnect();
    }
  }

  /** Writes what is in it to its directory, from where the next start takes it. */
  async save(): Promise<void> {
    await this.command('SAVE');
  }

  protected launch(): Promise<StartedStore> {
    return startRedis(this.dir, this.programs);
  }
}

/** How many deliveries the jobs of a queue hold that wait, and that are being taken in. */
export async function jobsIn(
  client: Pick<Redis, 'eval'>,
  shard: number,
): Promise<{ waiting: number; active: number }> {
  const text = `
    local function held(list)
      local count = 0
      for _, id in ipairs(redis.call('LRANGE', KEYS[1] .. list, 0, -1)) do
        local data = redis.call('HGET', KEYS[1] .. id, 'data')
        if data then count = count + #cjson.decode(data).deliveries end
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
    // What a running server removed while it was being copied is in its log, if it matters.
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
