// Preloaded into a process to make each of its requests name the process.
import { subscribe } from 'node:diagnostics_channel';

subscribe('undici:request:create', (message) => {
  const { request } =
    /** @type {{ request: { addHeader: (name: string, value: string) => void } }} */ (message);
  request.addHeader('x-process-id', String(process.pid));
});
