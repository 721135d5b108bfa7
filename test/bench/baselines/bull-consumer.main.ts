/**
 * The baseline of a worker: a bare Bull consumer that posts the content of its jobs and stores nothing.
 * `bull-consumer.main.js <port> <target> <redis> <jobs> <concurrency>`: fills its queue with this many jobs, listens on
 * the port, and starts consuming on `/consume`.
 */
import { createServer } from 'node:http';
import Bull from 'bull';
import { Agent, request } from 'undici';

const [, , port = '', target = '', redis = '', jobs = '', concurrency = ''] = process.argv;
const BULK = 1_000;
const dispatcher = new Agent();

const queue = new Bull<{ body: string }>('bare', redis, { prefix: '{bare}' });
const data = { body: JSON.stringify({ event: 'cdrCreated', data: { text: 'x'.repeat(900) } }) };
const opts = { attempts: 1, removeOnComplete: true, removeOnFail: true };
await queue.empty();
for (let left = Number(jobs); left > 0; left -= BULK) {
  const count = Math.min(left, BULK);
  await queue.addBulk(Array.from({ length: count }, () => ({ name: 'post', data, opts })));
}

createServer((asked, answer) => {
  if (asked.url === '/consume') void queue.process('post', Number(concurrency), post);
  answer.end();
}).listen(Number(port), '127.0.0.1');

async function post(job: Bull.Job<{ body: string }>): Promise<void> {
  const { body } = await request(target, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: job.data.body,
  });
  await body.dump();
}
