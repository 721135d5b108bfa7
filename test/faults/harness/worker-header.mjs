// Preloaded into a process: each of its requests says which process made it.
import { subscribe } from 'node:diagnostics_channel';

subscribe('undici:request:create', ({ request }) => {
  request.addHeader('x-process-id', String(process.pid));
});
