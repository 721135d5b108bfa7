// Reads exports from a separate process: all at once, as fast as they come. Standard input says which; writes how many
// bytes each had.
import { once } from 'node:events';
import { get } from 'node:http';
import { json } from 'node:stream/consumers';

/** @type {{ url: string, headers: Record<string, string>, times: number }} */
const { url, headers, times } = /** @type {any} */ (await json(process.stdin));

async function read() {
  const request = get(url, { agent: false, headers });
  /** @type {[import('node:http').IncomingMessage]} */
  const [answer] = /** @type {any} */ (await once(request, 'response'));
  let bytes = 0;
  answer.on('data', (/** @type {Buffer} */ chunk) => (bytes += chunk.length));
  await once(answer, 'end');
  return bytes;
}

console.log(JSON.stringify(await Promise.all(Array.from({ length: times }, read))));
