import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest';
import { createUser } from './accounts.js';
import { type Ending, RunningCommand, runCli } from './command-line.js';
import { createTestDatabase, type TestDatabase } from './database.js';
import type { Environment } from './environment.js';
import { type Client, clientOf } from './http.js';
import { apiInProcess, type Running, workerInProcess } from './in-process.js';
import { type Receiver, startReceiver } from './receiver.js';

/** A customer of a shared installation who uses the command line; a new one for each test. */
export class CliCustomer {
  database!: TestDatabase;
  api!: Running;
  receiver!: Receiver;
  /** Calls the API as the customer. */
  client!: Client;
  name!: string;
  account!: { id: string; auth: string };
  private platform!: Client;
  private customers = 0;
  /** Stopped after the test. */
  readonly running: RunningCommand[] = [];

  constructor(settings: Environment = {}) {
    let worker: Running;
    beforeAll(async () => {
      this.database = await createTestDatabase();
      const environment = {
        DATABASE_URL: this.database.url,
        DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
        ...settings,
      };
      [this.api, worker] = await Promise.all([
        apiInProcess(environment),
        workerInProcess(environment),
      ]);
      const { auth } = await createUser(this.database, 'platform', 'platform');
      this.platform = clientOf(this.api.url, auth);
    });
    afterAll(async () => {
      await Promise.all([this.api.stop(), worker.stop()]);
      await this.database.drop();
    });
    beforeEach(async () => {
      this.receiver = await startReceiver();
      this.name = `customer-${(this.customers += 1)}`;
      this.account = await createUser(this.database, this.name);
      this.client = clientOf(this.api.url, this.account.auth);
    });
    afterEach(async () => {
      await Promise.all(this.running.splice(0).map((command) => command.stop()));
      await this.receiver.close();
    });
  }

  /** The standard input of a command that reads the password. */
  get input(): string {
    return this.account.auth.slice(this.account.auth.indexOf(':') + 1);
  }

  /** Runs a command to its end. */
  readonly run = (...args: string[]): Promise<Ending> =>
    runCli([...args, ...this.login()], { input: this.input });

  /** Starts a command, which is stopped after the test. */
  readonly start = (...args: string[]): RunningCommand => {
    const command = new RunningCommand([...args, ...this.login()], { input: this.input });
    this.running.push(command);
    return command;
  };

  /** Reports an event. @returns its id */
  readonly report = async (data = '{}', event = 'cdrCreated'): Promise<string> => {
    const { id } = this.account;
    const body = `{"event":"${event}","resource":"call","accountId":"${id}","data":${data}}`;
    return lastSegment((await this.platform.post('/v1/events', body)).json());
  };

  /** Options that log in as the customer. */
  login(): string[] {
    return ['--url', this.api.url, '--user', this.name, '--password-stdin'];
  }
}

export const lastSegment = ({ href }: { href?: string }): string => href!.split('/').at(-1)!;
