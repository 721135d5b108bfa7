// Sends requests from a separate process: one after the other in turns, without waiting for answers. Standard input says
// which; writes the answers.
import { once } from 'node:events';
import { request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

/** As much of an answer as is written, in characters. */
const SHOWN = 8_192;

/** @type {import('./requests.js').Requests} */
const { url, everyMs, times, requests } = /** @type {any} */ (await json(process.stdin));

/** @param {import('./requests.js').Request} one */
async function send({ method, path, headers, body }) {
  const asked = request(url + path, { method, headers, agent: false }).end(body);
  /** @type {[import('node:http').IncomingMessage]} */
  const [answer] = /** @type {any} */ (await once(asked, 'response'));
  let [bytes, text] = [0, ''];
  answer.on('data', (/** @type {Buffer} */ chunk) => {
    bytes += chunk.length;
    if (text.length < SHOWN) text += chunk.toString('latin1').slice(0, SHOWN);
  });
  await once(answer, 'end');
  return { status: answer.statusCode, bytes, text };
}

const sent = [];
for (let n = 0; n < times; n += 1) {
  sent.push(send(/** @type {any} */ (requests[n % requests.length])));
  if (everyMs > 0) await sleep(everyMs);
}
console.log(JSON.stringify(await Promise.all(sent)));
