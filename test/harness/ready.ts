import { request } from 'node:http';

const PATIENCE_MS = 3_000;

/** Whether a process of ours says that it is ready. */
export function isReady(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { port, host: '127.0.0.1', path: '/health/ready', agent: false } as const;
    const asked = request({ ...options, timeout: PATIENCE_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    asked.on('timeout', () => asked.destroy());
    asked.on('error', () => resolve(false));
    asked.end();
  });
}
