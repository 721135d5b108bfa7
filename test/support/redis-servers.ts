import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { eventually } from '#tools/eventually';
import { answersPing, freePort } from '#tools/net';
import type { Program, Programs } from '#tools/programs';

const PRIMARIES = 3;
const READY_MS = 20_000;
/** A node's bus uses its port plus this; at 32768 and above, outgoing connections may occupy it. */
const BUS_PORT = 10_000;
const CONNECTIONS_FROM = 32_768;

/** Redis servers on loopback, without persistence by default. */
export class RedisServers {
  private readonly running = new Map<number, Program>();

  /**
   * @param timeoutMs after which an unreachable server counts as lost
   */
  constructor(
    private readonly dir: string,
    private readonly programs: Programs,
    private readonly timeoutMs: number,
  ) {}

  /** One server. @returns its port */
  async startServer(settings: string[] = []): Promise<number> {
    const port = await freePort();
    await this.start(port, settings);
    return port;
  }

  /** A node of a cluster that knows no other and has no slots. @returns its port */
  async startLoneNode(): Promise<number> {
    const port = await nodePort();
    await this.startNode(port);
    return port;
  }

  /** Three primaries with this many replicas each. @returns the ports of all */
  async startCluster(replicas: number): Promise<number[]> {
    const ports = await Promise.all(Array.from({ length: (1 + replicas) * PRIMARIES }, nodePort));
    await Promise.all(ports.map((port) => this.startNode(port)));
    const nodes = ports.map((port) => `127.0.0.1:${port}`);
    const create = ['create', ...nodes, '--cluster-replicas', String(replicas), '--cluster-yes'];
    await this.programs.run('redis-cli', 'redis-cli', ['--cluster', ...create]);
    await this.whole(ports);
    return ports;
  }

  /** Starts a node of a cluster, which still knows the others after a restart. */
  startNode(port: number): Promise<void> {
    const cluster = {
      enabled: 'yes',
      'node-timeout': this.timeoutMs,
      'config-file': `${port}.conf`,
    };
    return this.start(
      port,
      Object.entries(cluster).flatMap(([name, value]) => [`--cluster-${name}`, String(value)]),
    );
  }

  /** Waits until every node knows the whole cluster. */
  async whole(ports: readonly number[]): Promise<void> {
    for (const port of ports) {
      await eventually(() => this.ask(port, 'CLUSTER', 'INFO'), isWhole);
      await eventually(() => this.ask(port, 'INFO', 'replication'), isInStep);
    }
  }

  /** A primary with a replica, and a sentinel that watches it. @returns the ports of both */
  async startWatched(name: string): Promise<{ sentinel: number; primary: number }> {
    const [primary, replica, sentinel] = [await freePort(), await freePort(), await freePort()];
    await this.start(primary);
    await this.start(replica, ['--replicaof', '127.0.0.1', String(primary)]);
    await eventually(() => this.ask(replica, 'INFO', 'replication'), isInStep);
    const settings = join(this.dir, 'sentinel.conf');
    await writeFile(
      settings,
      [
        `sentinel monitor ${name} 127.0.0.1 ${String(primary)} 1`,
        `sentinel down-after-milliseconds ${name} ${this.timeoutMs}`,
        `sentinel failover-timeout ${name} 5000`,
      ].join('\n'),
    );
    await this.start(sentinel, [], [settings, '--sentinel']);
    const knowsReplica = (answer: unknown) => (answer as unknown[]).length === 1;
    await eventually(() => this.ask(sentinel, 'SENTINEL', 'REPLICAS', name), knowsReplica);
    return { sentinel, primary };
  }

  /** SIGKILL for the server on that port. */
  async kill(port: number): Promise<void> {
    const server = this.running.get(port);
    if (!server) throw new Error(`no server has port ${String(port)}`);
    await server.kill();
    this.running.delete(port);
  }

  /** Sends a command to one server, on its own connection. */
  async ask(port: number, command: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(port, '127.0.0.1');
    // `call` reports errors, after retries while the server starts.
    client.on('error', () => undefined);
    try {
      return await client.call(command, ...args);
    } finally {
      client.disconnect();
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.running.keys()].map((port) => this.kill(port)));
    await rm(this.dir, { recursive: true });
  }

  private async start(port: number, settings: string[] = [], first: string[] = []): Promise<void> {
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', this.dir];
    const file = ['--save', '', '--appendonly', 'no', '--dbfilename', `${port}.rdb`];
    const args = [...first, ...own, ...(first.length > 0 ? [] : file), ...settings];
    const server = this.programs.start(`redis-${port}`, 'redis-server', args);
    this.running.set(port, server);
    await server.ready(() => answersPing(port), READY_MS);
  }
}

const isWhole = (info: unknown) => String(info).includes('cluster_state:ok');
const isInStep = (info: unknown) => /role:master|master_link_status:up/.test(String(info));

async function nodePort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port + BUS_PORT < CONNECTIONS_FROM) return port;
  }
}
