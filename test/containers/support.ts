import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '#tools/eventually';
import { freePort } from '#tools/net';
import { ROOT } from '#tools/settings';
import { request } from '../support/http.js';

const COMPOSE = join(ROOT, 'docker-compose.yml');
const RECEIVER = join(ROOT, 'test/containers/with-receiver.yml');
const LIMITS = join(ROOT, 'test/containers/limits.yml');
/** Not the default, which an installation on this machine may have. */
export const PROXY_NETWORK = '10.213.48.0/24';
/** What this machine allows at most. */
const OPEN_FILES = Number(execFileSync('sh', ['-c', 'ulimit -Hn']).toString()) || Infinity;
/** The id of the first user of a new installation. */
const DEMO = '1';
const PARALLEL = 8;
/** Time for containers to be replaced, of which the documents promise half a minute each. */
const SETTLE_MS = 120_000;

/** Runs a program to its end. @returns its output @throws Error with the end of what it printed */
export function run(program: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(
      program,
      args,
      { cwd: ROOT, maxBuffer: 64 << 20 },
      (error, out, errors) => {
        if (error) {
          const printed = `${errors.slice(-4_000)}${out.slice(-2_000)}`;
          reject(new Error(`${program} ${args.join(' ')}: ${printed}`));
        } else {
          resolve(out);
        }
      },
    );
    // A program may end without reading: its exit code says whether it succeeded.
    child.stdin?.on('error', () => undefined).end(input);
  });
}

/** Repeats something until the work is done. */
export async function during(
  work: () => Promise<unknown>,
  repeat: () => Promise<unknown>,
): Promise<void> {
  const end = new AbortController();
  const repeating = (async () => {
    while (!end.signal.aborted) await repeat();
  })();
  await work().finally(async () => {
    end.abort();
    await repeating;
  });
}

/** An installation of docker compose, with its own name, settings, volumes and port. */
export class Installation {
  readonly project = `switchhook-test-${randomBytes(4).toString('hex')}`;
  /** Of docker compose; the first decides where the others' paths start. */
  files = [COMPOSE, RECEIVER, LIMITS];
  /** The events that were answered with 202. */
  reported = 0;
  private readonly dir = mkdtempSync(join(tmpdir(), 'installation-'));
  readonly settings: Record<string, string> = {};

  /** The lines of its .env file, as docs/operating/install.md writes them. */
  static async create(tag: string, passwordOf: (name: string) => string): Promise<Installation> {
    const installation = new Installation();
    const names = ['POSTGRES', 'MIGRATE', 'API', 'WORKER', 'REDIS'];
    installation.set({
      ...Object.fromEntries(names.map((name) => [`${name}_PASSWORD`, passwordOf(name)])),
      SECRETS_KEYS: `k1:${randomBytes(32).toString('base64')}`,
      SWITCHHOOK_TAG: tag,
      TEST_IMAGE: `switchhook:${tag}`,
      TEST_NOFILE: String(Math.min(65_536, OPEN_FILES)),
      API_PROCESSES: '1',
      WORKER_PROCESSES: '1',
      PORT: String(await freePort()),
      PROXY_NETWORK,
      TRUSTED_PROXIES: PROXY_NETWORK,
      DELIVERY_ALLOWED_NETWORKS: '10.0.0.0/8,172.16.0.0/12,192.168.0.0/16',
    });
    return installation;
  }

  set(settings: Record<string, string>): void {
    Object.assign(this.settings, settings);
    const lines = Object.entries(this.settings).map(([name, value]) => `${name}='${value}'\n`);
    writeFileSync(join(this.dir, '.env'), lines.join(''), { mode: 0o600 });
  }

  get url(): string {
    return `http://127.0.0.1:${this.settings.PORT!}`;
  }

  compose(...args: string[]): Promise<string> {
    return this.composeWith('', args);
  }

  /** Starts all services, and waits until they are healthy. */
  up(...scales: string[]): Promise<string> {
    const scaled = scales.flatMap((scale) => ['--scale', scale]);
    return this.compose('up', '-d', '--wait', '--no-build', ...scaled);
  }

  /** The ids of the containers of some services, also of ended ones. */
  async containers(...services: string[]): Promise<string[]> {
    return (await this.compose('ps', '--all', '-q', ...services)).split('\n').filter(Boolean);
  }

  /** A value of each container's description, in the syntax of Go's templates. */
  async inspect(template: string, ...services: string[]): Promise<string[]> {
    const containers = await this.containers(...services);
    const told = await run('docker', ['inspect', '--format', template, ...containers]);
    return told.trim().split('\n');
  }

  /** Where a container of a service is reached from here. */
  async addressOf(service: string, port: number): Promise<string> {
    return `http://${(await this.compose('port', service, String(port))).trim()}`;
  }

  /** Creates a customer, whose receiver is to get all events, and a producer of events. */
  async subscribe(url = this.url): Promise<void> {
    for (const [name, role] of [
      ['demo', 'account'],
      ['switch', 'platform'],
    ] as const) {
      const user = ['users', 'create', name, '--role', role, '--password-stdin'];
      await this.composeWith(`${name}-secret`, ['run', '--rm', '-T', 'cli', ...user]);
    }
    const body = { event: 'cdrCreated', resource: 'all', targetUrl: 'http://receiver:8080/' };
    const made = await request('POST', `${url}/v1/webhooks`, { auth: 'demo:demo-secret', body });
    if (made.status !== 200) throw new Error(`no subscription: ${made.text}`);
  }

  /** Reports events as a producer does: each again until an address of the API has answered 202. */
  async report(count: number, urls = () => Promise.resolve([this.url])): Promise<void> {
    const last = this.reported + count;
    let next = this.reported;
    const one = async () => {
      while (next < last) {
        const id = `event-${(next += 1)}`;
        await eventually(async () => this.isAccepted(id, await urls()), Boolean, { ms: SETTLE_MS });
        this.reported += 1;
      }
    };
    await Promise.all(Array.from({ length: PARALLEL }, one));
  }

  /** Waits until the receiver has got a notification of each event. */
  async delivered(): Promise<void> {
    const receiver = await this.addressOf('receiver', 8080);
    await eventually(
      async () => (await request('GET', receiver, {})).text,
      (received) => received === String(this.reported),
      { ms: SETTLE_MS, everyMs: 250 },
    );
  }

  async remove(): Promise<void> {
    const down = ['--profile', '*', 'down', '--volumes', '--timeout', '0', '--remove-orphans'];
    const isRemoved = () =>
      this.compose(...down).then(
        () => true,
        () => false,
      );
    // An engine may count the endpoint of a removed container for a moment, and then keeps its network.
    await eventually(isRemoved, Boolean, { ms: SETTLE_MS });
    rmSync(this.dir, { recursive: true, force: true });
  }

  private async isAccepted(id: string, urls: readonly string[]): Promise<boolean> {
    const body = { id, event: 'cdrCreated', resource: 'call', accountId: DEMO, data: {} };
    for (const url of urls) {
      const sent = request('POST', `${url}/v1/events`, { auth: 'switch:switch-secret', body });
      if ((await sent.catch(() => undefined))?.status === 202) return true;
    }
    return false;
  }

  private composeWith(input: string, args: readonly string[]): Promise<string> {
    const files = this.files.flatMap((file) => ['-f', file]);
    const own = ['-p', this.project, '--env-file', join(this.dir, '.env'), ...files];
    return run('docker', ['compose', ...own, ...args], input);
  }
}
