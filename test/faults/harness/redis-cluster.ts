import { Cluster } from 'ioredis';
import type { Programs } from '#tools/programs';
import { RedisServers } from '../../support/redis-servers.js';
import { jobsIn } from '../../support/stores.js';

/** Redis's default. */
const NODE_TIMEOUT_MS = 15_000;
/** Enough queues to put some on each primary. */
export const SHARDS = 6;

/** A Redis Cluster without replicas. After a restart, nodes keep their ports and nothing else. */
export class RedisCluster {
  private ports: number[] = [];
  private readonly servers: RedisServers;

  constructor(dir: string, programs: Programs) {
    this.servers = new RedisServers(dir, programs, NODE_TIMEOUT_MS);
  }

  get url(): URL {
    return new URL(`redis+cluster://127.0.0.1:${String(this.ports[0])}`);
  }

  async start(): Promise<void> {
    if (this.ports.length === 0) {
      this.ports = await this.servers.startCluster(0);
      return;
    }
    await Promise.all(this.ports.map((port) => this.servers.startNode(port)));
    await this.servers.whole(this.ports);
  }

  async kill(): Promise<void> {
    await Promise.all(this.ports.map((port) => this.servers.kill(port)));
  }

  /** Sends a command to every node. @returns the answer of the first one */
  async command(name: string, ...args: string[]): Promise<unknown> {
    const answers = this.ports.map((port) => this.servers.ask(port, name, ...args));
    return (await Promise.all(answers))[0];
  }

  /** How many deliveries the waiting jobs and the active jobs of all queues hold. */
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
}
