import type { Server } from 'node:net';
import { type Config, InvalidConfigError } from './config/config.js';
import { codeOf } from './database/database-errors.js';

/** The settings with a port that a process listens on. */
export type PortSetting = 'PORT' | 'WORKER_PORT' | 'METRICS_PORT';

/**
 * Lets a server listen on the port of a setting.
 * @throws InvalidConfigError when the port is in use
 */
export function listen(server: Server, setting: PortSetting, config: Config): Promise<void> {
  const port = config[setting];
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      const isInUse = codeOf(error) === 'EADDRINUSE';
      const message = `configuration: ${setting}: port ${String(port)} is in use`;
      reject(isInUse ? new InvalidConfigError(message) : error);
    };
    server.once('error', fail).listen(port, config.HOST, () => {
      server.off('error', fail);
      resolve();
    });
  });
}
