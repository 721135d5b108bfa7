import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import type { Program } from '#tools/programs';
import { programs } from './processes.js';

const NODE_TIMEOUT_MS = 1_000;
/** The bus of a cluster has the port of the node and this. */
const BUS_PORT = 10_000;
const MASTERS = 3;

/** Servers of Redis of a test's own, on loopback. */
export class RedisServers {
  private readonly running = new Map<number, Program>();

  private constructor(private readonly dir: string) {}

  static async prepare(): Promise<RedisServers> {
    return new RedisServers(await mkdtemp(join(tmpdir(), 'switchhook-redis-')));
  }

  /** Three primaries with a replica each. @returns the port of one of them */
  async startCluster(): Promise<number> {
    const ports = await Promise.all(Array.from({ length: 2 * MASTERS }, () => busPort()));
    const settings = [
      '--cluster-enabled',
      'yes',
      '--cluster-node-timeout',
      String(NODE_TIMEOUT_MS),
    ];
    for (const port of ports) {
      await this.start(port, [...settings, '--cluster-config-file', `nodes-${String(port)}.conf`]);
    }
    const nodes = ports.map((port) => `127.0.0.1:${String(port)}`);
    const create = ['--cluster', 'create', ...nodes, '--cluster-replicas', '1', '--cluster-yes'];
    await promisify(execFile)('redis-cli', create);
    for (const port of ports) {
      await eventually(() => this.ask(port, 'CLUSTER', 'INFO'), isWhole);
      await eventually(() => this.ask(port, 'INFO', 'replication'), isInStep);
    }
    return ports.at(-1) ?? 0;
  }

  /** A primary with a replica, and a sentinel that watches it. @returns the ports of both */
  async startWatched(name: string): Promise<{ sentinel: number; primary: number }> {
    const [primary, replica, sentinel] = [await freePort(), await freePort(), await freePort()];
    await this.start(primary, []);
    await this.start(replica, ['--replicaof', '127.0.0.1', String(primary)]);
    await eventually(() => this.ask(replica, 'INFO', 'replication'), isInStep);
    const settings = join(this.dir, 'sentinel.conf');
    await writeFile(
      settings,
      [
        `sentinel monitor ${name} 127.0.0.1 ${String(primary)} 1`,
        `sentinel down-after-milliseconds ${name} ${String(NODE_TIMEOUT_MS)}`,
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

  /** Asks one server, on a connection of its own. */
  async ask(port: number, command: string, ...args: string[]): Promise<unknown> {
    const client = new Redis(port, '127.0.0.1');
    // The call tells, once the server has had its time to start.
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

  private async start(port: number, settings: string[], first: string[] = []): Promise<void> {
    const own = ['--port', String(port), '--bind', '127.0.0.1', '--dir', this.dir];
    const nothingKept = first.length > 0 ? [] : ['--save', '', '--appendonly', 'no'];
    const args = [...first, ...own, ...nothingKept, ...settings];
    this.running.set(port, programs.start(`redis-${port}`, 'redis-server', args));
    await eventually(
      () => this.ask(port, 'PING'),
      (answer) => answer === 'PONG',
    );
  }
}

const isWhole = (info: unknown) => String(info).includes('cluster_state:ok');
const isInStep = (info: unknown) => /role:master|master_link_status:up/.test(String(info));

async function busPort(): Promise<number> {
  for (;;) {
    const port = await freePort();
    if (port + BUS_PORT <= 65_535) return port;
  }
}
