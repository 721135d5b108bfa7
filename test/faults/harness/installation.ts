import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { Programs } from '#tools/programs';
import { ROOT } from '#tools/settings';
import { ask, call, type Caller } from './call.js';
import { Follower } from './follower.js';
import { FrontDoor } from './front-door.js';
import { Link } from './link.js';
import { LinkedProcess } from './linked-process.js';
import { MemoryWatch } from './memory.js';
import type { Action, Harm } from './history/history.js';
import { PgBouncer } from './pgbouncer.js';
import { Producer } from './producer.js';
import { Receiver } from './receiver.js';
import { RedisCluster, SHARDS } from './redis-cluster.js';
import { CUSTOMER, PLATFORM, type Template } from './template.js';
import type { Topology } from './topology.js';
import type { Environment } from '../../support/environment.js';
import type { ServiceProcess } from '../../support/service-process.js';
import { copy, Postgres, RedisStore } from '../../support/stores.js';

/** Leases end 15 s later. A shorter timeout would measure how overloaded the machine is. */
const TIMEOUT_MS = 3_000;
/** Many attempts in quick succession, so that a temporary fault exhausts no delivery. */
const SCHEDULE = [300, 600, ...Array<number>(60).fill(1_000)];
/** Two can differ. */
const FOLLOWERS = 2;
/** Makes each request name the process that made it. */
const WORKER_HEADER = ['--import', join(ROOT, 'test/faults/harness/worker-header.mjs')];

/** Redis, as one server or as a cluster. */
type Redis = Pick<RedisStore, 'url' | 'start' | 'kill' | 'jobs' | 'command' | 'save'>;

/** Options of a case's installation. */
export interface Setup {
  /** Paths of the receiver, with a subscription to each. Default: two. */
  paths?: readonly string[];
  /** The target of a path's subscription. Default: the receiver. */
  target?: (path: string, receiver: Receiver) => Promise<string>;
  /** Further fields of the subscriptions. */
  subscription?: (path: string) => object;
  /** Delays before retries, in ms. Default: many short ones. */
  schedule?: readonly number[];
  /** Further environment variables of a process. */
  environment?: (name: string) => Environment;
  /** The number of workers. Default: two. */
  workers?: number;
  /** Whether PostgreSQL has a synchronous standby, which is the second host of every process. */
  standby?: boolean;
  /** Prepares the directory that will hold the data of PostgreSQL, `dir`/postgres. */
  beforeData?: (dir: string) => void;
}

/** PostgreSQL, Redis, two APIs behind a proxy, two workers, a receiver and a producer. */
export class Installation {
  /** Faults that kept outcomes of attempts from being recorded. */
  readonly harms: Harm[] = [];
  /** Actions of customers, for the check of their deliveries. */
  readonly actions: Action[] = [];
  /** By path: its subscription's path, and its first target. */
  readonly targets = new Map<string, { subscription: string; url: URL }>();
  readonly memory: MemoryWatch;
  producer!: Producer;
  /** Of the feed, from the beginning. */
  readonly followers: Follower[] = [];
  private readonly ending = new AbortController();
  accountId = '';

  private constructor(
    readonly programs: Programs,
    readonly postgres: Postgres,
    readonly redis: Redis,
    readonly apis: readonly LinkedProcess[],
    readonly workers: readonly LinkedProcess[],
    readonly frontDoor: FrontDoor,
    readonly receiver: Receiver,
    readonly paths: readonly string[],
    /** The metrics address of each process, by its name. */
    readonly metrics: ReadonlyMap<string, string>,
    readonly schedule: readonly number[],
    /** Processes that ended unexpectedly. */
    readonly unexpectedEnds: readonly string[],
    /** See {@link Setup.standby}. */
    public standby: Postgres | undefined,
  ) {
    this.memory = new MemoryWatch(this.processes);
  }

  /**
   * @param dir where it writes all its files
   */
  static async start(
    dir: string,
    template: Template,
    setup: Setup = {},
    topology: Topology = {},
  ): Promise<Installation> {
    await mkdir(dir, { recursive: true });
    setup.beforeData?.(dir);
    for (const name of ['postgres', 'postgres.json']) await copy(join(template.dir, name), dir);
    const { paths = ['/first', '/second'], schedule = SCHEDULE } = setup;
    const programs = new Programs(join(dir, 'logs'));
    const postgres = new Postgres(dir, programs);
    const redis = topology.redisCluster
      ? new RedisCluster(dir, programs)
      : new RedisStore(dir, programs);
    await Promise.all([postgres.start(), redis.start()]);
    const standby = setup.standby
      ? await postgres.replicate(join(dir, 'standby'), { isSynchronous: true })
      : undefined;
    const database = topology.pgbouncer
      ? await PgBouncer.start(join(dir, 'pgbouncer'), postgres, programs)
      : postgres;

    const ends: string[] = [];
    const metrics = new Map<string, string>();
    const create = async (kind: 'api' | 'worker', number: number) => {
      const name = `${kind}-${String(number)}`;
      const links = {
        postgres: new Link(() => database.urlOf(kind)),
        redis: new Link(() => redis.url),
      };
      await Promise.all([links.postgres.listen(), links.redis.listen()]);
      const metricsPort = String(await freePort());
      metrics.set(name, `http://127.0.0.1:${metricsPort}/metrics`);
      const environment = {
        METRICS_PORT: metricsPort,
        DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
        DELIVERY_TIMEOUT_MS: String(TIMEOUT_MS),
        DELIVERY_RETRY_SCHEDULE: schedule.map((ms) => `${ms}ms`).join(','),
        ...(topology.pgbouncer && { DATABASE_PREPARED_STATEMENTS: 'false' }),
        ...(topology.redisCluster && { QUEUE_SHARDS: String(SHARDS) }),
        ...(standby && { DATABASE_URL: bothHosts(postgres.urlOf(kind), standby.urlOf(kind)) }),
        ...setup.environment?.(name),
      };
      return new LinkedProcess(links, {
        name,
        kind,
        port: await freePort(),
        programs,
        environment,
        nodeOptions: WORKER_HEADER,
        onUnexpectedEnd: (how) => void ends.push(how),
      });
    };
    const several = (kind: 'api' | 'worker', count: number) =>
      Promise.all(Array.from({ length: count }, (_, index) => create(kind, index + 1)));
    const apis = await several('api', 2);
    const workers = await several('worker', setup.workers ?? 2);
    const frontDoor = new FrontDoor(apis.map(({ port }) => port));
    const receiver = new Receiver();
    const all = new Installation(
      programs,
      postgres,
      redis,
      apis,
      workers,
      frontDoor,
      receiver,
      paths,
      metrics,
      schedule,
      ends,
      standby,
    );
    try {
      await Promise.all([
        receiver.listen(),
        frontDoor.listen(),
        ...all.processes.map((p) => p.start()),
      ]);
      await all.prepare(setup);
    } catch (error) {
      await all.end();
      throw error;
    }
    return all;
  }

  get processes(): readonly LinkedProcess[] {
    return [...this.apis, ...this.workers];
  }

  /**
   * Injects a fault that may delay or lose the record of an answer. @param processes the affected ones; only workers
   * record answers
   */
  async harming(
    kind: Harm['kind'],
    processes: readonly ServiceProcess[] | 'all',
    harm: () => Promise<unknown>,
  ): Promise<void> {
    const workers =
      processes === 'all'
        ? [{}]
        : processes
            .filter((one) => one.kind === 'worker')
            .map(({ pid }) => ({ worker: String(pid) }));
    const from = Date.now();
    const lasting = workers.map((worker) => ({ kind, ...worker, from, to: Infinity }));
    this.harms.push(...lasting);
    try {
      await harm();
    } finally {
      for (const one of lasting) one.to = Date.now();
    }
  }

  /** Kills processes at the same moment and restarts them after a while, as a supervisor would. */
  async killAndRestart(processes: readonly ServiceProcess[], awayMs: number): Promise<void> {
    await this.harming('killed', processes, () =>
      Promise.all(processes.map((process) => process.kill())),
    );
    await sleep(awayMs);
    await Promise.all(processes.map((process) => process.start()));
  }

  /** How many deliveries are pending. */
  async pending(): Promise<number> {
    const [row] = await this.postgres.query<{ count: number }>(
      `SELECT count(*)::integer AS count FROM deliveries WHERE state = 'pending'`,
    );
    return row?.count ?? 0;
  }

  /** The number of deliveries that are pending or in flight, plus the number of running replays. */
  async unfinished(): Promise<number> {
    const [row] = await this.postgres.query<{ count: number }>(
      `SELECT ((SELECT count(*) FROM deliveries WHERE state = 'pending' OR claimed_until > now())
         + (SELECT count(*) FROM replays WHERE state = 'running'))::integer AS count`,
    );
    return row?.count ?? 0;
  }

  /** Waits until new events go straight to the queue and do not wait in PostgreSQL. */
  async noBacklog(): Promise<void> {
    const marked = () => this.postgres.query('SELECT FROM webhooks WHERE backlog');
    await eventually(async () => (await marked()).length === 0, Boolean, {
      what: 'no subscription has a backlog',
    });
  }

  /** Points the subscription of a path to the receiver, as a customer would who fixes a mistake. */
  async correct(path: string): Promise<void> {
    const target = this.targets.get(path);
    await this.call('PUT', target?.subscription ?? '', { targetUrl: this.receiver.url + path });
  }

  /** Makes a request of the customer. @throws Error unless it is answered with 200 */
  call<Answer>(method: string, path: string, body?: object): Promise<Answer> {
    return call(this.customer, method, path, body);
  }

  /** Makes a request of the customer. @throws Error if there is no answer */
  ask(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    return ask(this.customer, method, path, body);
  }

  /** A producer of calls' records for an account. It gives up when the installation ends. */
  producerFor(accountId: string): Producer {
    return new Producer({
      url: this.frontDoor.url,
      auth: PLATFORM,
      body: { event: 'cdrCreated', resource: 'call', accountId },
      end: this.ending.signal,
    });
  }

  private get customer(): Caller {
    return { url: this.frontDoor.url, auth: CUSTOMER };
  }

  async end(): Promise<void> {
    this.ending.abort();
    this.memory.stop();
    this.frontDoor.close();
    for (const { postgres, redis } of this.processes) {
      postgres.close();
      redis.close();
    }
    await this.programs.kill();
    await this.receiver.close();
  }

  private async prepare({ target: targetOf, subscription }: Setup): Promise<void> {
    for (const path of this.paths) {
      const targetUrl = (await targetOf?.(path, this.receiver)) ?? this.receiver.url + path;
      const body = { event: 'cdrCreated', resource: 'all', targetUrl, ...subscription?.(path) };
      const { href } = await this.call<{ href: string }>('POST', '/v1/webhooks', body);
      this.targets.set(path, { subscription: new URL(href).pathname, url: new URL(targetUrl) });
    }
    const [customer] = await this.postgres.query<{ id: string }>(
      `SELECT id FROM users WHERE username = 'customer'`,
    );
    this.accountId = customer?.id ?? '';
    this.producer = this.producerFor(this.accountId);
    for (let n = 0; n < FOLLOWERS; n += 1) {
      const follower = new Follower(this.customer, this.ending.signal);
      await follower.start();
      this.followers.push(follower);
    }
  }
}

function bothHosts({ href, host }: URL, other: URL): string {
  return href.replace(host, `${host},${other.host}`);
}
