import { Cluster, Redis } from 'ioredis';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import type { Program, Programs } from '#tools/programs';
import { jobsIn } from '../../support/stores.js';

const PRIMARIES = 3;
/** The bus of a node has its port and this; from 32768 on, a connection of anybody may have it. */
const BUS_PORT = 10_000;
const CONNECTIONS_FROM = 32_768;
/** So many queues that each primary has some. */
export const SHARDS = 6;

/** A Redis Cluster without replicas, whose nodes keep their ports, and nothing else, when they are started again. */
export class RedisCluster {
  private ports: number[] = [];
  private nodes: Program[] = [];

  constructor(
    private readonly dir: string,
    private readonly programs: Programs,
  ) {}

  get url(): URL {
    return new URL(`redis+cluster://127.0.0.1:${String(this.ports[0])}`);
  }

  async start(): Promise<void> {
    const isNew = this.ports.length === 0;
    if (isNew) this.ports = await Promise.all(Array.from({ length: PRIMARIES }, nodePort));
    this.nodes = this.ports.map((port) => this.launch(port));
    await this.each((node) => node.ping());
    if (isNew) {
      const nodes = this.ports.map((port) => `127.0.0.1:${String(port)}`);
      const create = ['--cluster', 'create', ...nodes, '--cluster-yes'];
      await this.programs.run('redis-cli', 'redis-cli', create);
    }
    await this.each((node) =>
      eventually(async () => (await node.cluster('INFO')).includes('cluster_state:ok'), Boolean, {
        what: 'the cluster is whole',
      }),
    );
  }

  async kill(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.kill()));
  }

  /** A command to every node. @returns the first one's answer */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const answers: unknown[] = [];
    await this.each(async (node) => answers.push(await node.call(name, ...args)));
    return answers[0];
  }

  /** How many deliveries the jobs of all queues hold that wait, and that are being taken in. */
  async jobs(): Promise<{ waiting: number; active: number }> {
    const cluster = new Cluster([{ host: '127.0.0.1', port: this.ports[0]! }]);
    try {
      const all = await Promise.all(
        Array.from({ length: SHARDS }, (_, shard) => jobsIn(cluster, shard)),
      );
      const sum = (of: 'waiting' | 'active') => all.reduce((total, one) => total + one[of], 0);
      return { waiting: sum('waiting'), active: sum('active') };
    } finally {
      cluster.disconnect();
    }
  }

  async save(): Promise<void> {
    await this.command('SAVE');
  }

  private launch(port: number): Program {
    const name = `redis-${String(port)}`;
    const settings = {
      port: String(port),
      bind: '127.0.0.1',
      dir: this.dir,
      save: '',
      appendonly: 'no',
      dbfilename: `${name}.rdb`,
      'cluster-enabled': 'yes',
      'cluster-config-file': `${name}.conf`,
      'maxmemory-policy': 'noeviction',
    };
    const args = Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]);
    return this.programs.start(name, 'redis-server', args);
  }

  private async each(work: (node: Redis) => Promise<unknown>): Promise<void> {
    for (const port of this.ports) {
      const node = new Redis(port, '127.0.0.1');
      // Until it has started: the call tells when that takes too long.
      node.on('error', () => undefined);
      try {
        await work(node);
      } finally {
        node.disconnect();
      }
    }
  }
}

async function nodePort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port + BUS_PORT < CONNECTIONS_FROM) return port;
  }
}
