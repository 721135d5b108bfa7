import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import type { DynamicModule } from '@nestjs/common';
import { UnavailableError } from '#libs/kernel';
import {
  type Config,
  type DatabaseSchema,
  listen,
  Log,
  readConfigOf,
  requireSecretsKeys,
  startProcess,
  STOP_SIGNALS,
  storeAddresses,
  VERSION,
  waitForSchema,
  type WaitsFor,
  warnOfFewFiles,
} from '#libs/runtime';
import { limitConnections, limitPipeline, LIMITS } from './connection-limits.js';
import { createHttpApplication } from './http-application.js';
import { isEnding } from './connection-close.js';
import { PROBLEM_TYPE, problemOf } from './problem.js';
import { pathOf } from './request.js';

/** An API or a worker. */
export interface ServerProcess {
  name: 'api' | 'worker';
  moduleFor: (config: Config) => DynamicModule;
  /** The contexts whose tables it uses. */
  schemas: readonly DatabaseSchema[];
}

/**
 * Starts a process once the database has its schema; until then only its health is served. A signal ends it
 * at once as long as it has not begun to work.
 */
export function startServer({ name, moduleFor, schemas }: ServerProcess): Promise<void> {
  const port = name === 'api' ? 'PORT' : 'WORKER_PORT';
  // Otherwise V8 may allocate some objects of requests in the old generation. They keep all others of their request
  // until a full garbage collection: 50 % more memory, in one start of three.
  setFlagsFromString('--no-allocation-site-pretenuring');
  return startProcess(name, async (startLog) => {
    const config = readConfigOf(name);
    requireSecretsKeys(config);
    const log = new Log(config, name);
    log.info({ version: VERSION, ...storeAddresses(config) }, 'starting');
    await warnOfFewFiles(name, config, log);
    // Before the log's own listener, which writes the lines that are still in memory.
    process.prependOnceListener('exit', (code) => log.info({ code }, 'stopped'));
    // It has nothing to finish yet. At its exit, a line that is still being written would come last.
    const end = (): unknown => log.flush().then(() => process.exit(0));
    for (const signal of STOP_SIGNALS) {
      process.once(signal, () => log.info({ signal }, 'stopping')).once(signal, end);
    }
    const waiting = new WaitingServer(config, port);
    await waitForSchema(config, schemas, log, (...reason) => waiting.serve(...reason));
    await waiting.close();
    const app = await createHttpApplication(moduleFor(config), startLog);
    for (const signal of STOP_SIGNALS) process.off(signal, end);
    await app.init();
    // Not `app.listen`, which would log the error of a port in use a second time.
    await listen(app.getHttpServer(), port, config);
    const { METRICS_PORT: metricsPort } = config;
    log.info({ port: config[port], ...(metricsPort > 0 && { metricsPort }) }, 'started');
  });
}

const NOT_MIGRATED = 'The service waits until its database has been migrated.';

/** Answers health requests, and refuses all others, while a process waits. */
class WaitingServer {
  private reason: WaitsFor = 'postgres';
  private why: string | undefined;

  private readonly server = createServer(LIMITS, (request, response) =>
    this.answer(request, response),
  );

  constructor(
    private readonly config: Config,
    private readonly port: 'PORT' | 'WORKER_PORT',
  ) {}

  async serve(reason: WaitsFor, why?: string): Promise<void> {
    this.reason = reason;
    this.why = why;
    if (this.server.listening) return;
    // Whether a sender is a proxy is not known here, so the limit of an address does not apply.
    limitConnections(
      this.server,
      this.config,
      () => true,
      () => undefined,
    );
    await listen(this.server, this.port, this.config);
  }

  async close(): Promise<void> {
    if (!this.server.listening) return;
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private answer(request: IncomingMessage, response: ServerResponse): void {
    if (isEnding(request.socket)) return;
    limitPipeline(request.socket, response);
    const instance = pathOf(request);
    const requestId = randomUUID();
    const isAway = this.reason === 'postgres';
    const error = isAway ? new UnavailableError() : new UnavailableError(undefined, NOT_MIGRATED);
    const health: Record<string, object> = {
      '/health/live': { status: 'up' },
      '/health/ready': {
        status: 'down',
        postgres: isAway ? 'down' : 'up',
        schema: 'down',
        ...(this.why !== undefined && { reason: this.why }),
      },
    };
    const body = health[instance] ?? problemOf(error, { instance, requestId });
    response.writeHead(instance === '/health/live' ? 200 : 503, {
      'Content-Type': instance in health ? 'application/json; charset=utf-8' : PROBLEM_TYPE,
      'Cache-Control': 'no-store',
      'X-Request-Id': requestId,
      ...(!(instance in health) && { 'Retry-After': '1' }),
    });
    response.end(JSON.stringify(body));
  }
}
