// Preloaded into a process: each of its requests says which process made it.
import { subscribe } from 'node:diagnostics_channel';

subscribe('undici:request:create', (message) => {
  const { request } =
    /** @type {{ request: { addHeader: (name: string, value: string) => void } }} */ (message);
  request.addHeader('x-process-id', String(process.pid));
});
