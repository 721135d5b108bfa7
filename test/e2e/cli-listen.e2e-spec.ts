import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { Agent, request } from 'undici';
import { afterEach, describe, expect, it } from 'vitest';
import { RunningCommand, runCli } from '../support/command-line.js';
import { startReceiver } from '../support/receiver.js';

const SECRET = `whsec_${Buffer.from('a signing secret for this test').toString('base64')}`;
const OTHER_SECRET = `whsec_${Buffer.from('another secret for this test').toString('base64')}`;
const ID = '01890a5d-ac96-774b-bcce-b302099a8057';
const BODY = `{"id":"${ID}","event":"cdrCreated","resource":"call","data":{"cost":12345678901234567890.10}}`;

const running: RunningCommand[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((command) => command.stop()));
});

async function listen(...options: string[]) {
  const command = new RunningCommand(['listen', '0', ...options]);
  running.push(command);
  const [, url] = await command.printed(/^listening on (http:\/\/127\.0\.0\.1:\d+\/)\n/);
  return { command, url: url! };
}

function signed(body: string, secret: string, at = new Date()) {
  return {
    'content-type': 'application/json',
    'webhook-id': ID,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': new Webhook(secret).sign(ID, at, body),
  };
}

const { publicKey, privateKey } = generateKeyPairSync('ed25519');
const PUBLIC_KEY = `whpk_${Buffer.from(publicKey.export({ format: 'jwk' }).x ?? '', 'base64url').toString('base64')}`;

function signedByKey(body: string, at = new Date()) {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signature = sign(null, Buffer.from(`${ID}.${timestamp}.${body}`), privateKey);
  return {
    'webhook-id': ID,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,AAAA v1a,${signature.toString('base64')}`,
  };
}

async function post(url: string, body: string, headers: Record<string, string> = {}) {
  const answer = await request(url, { method: 'POST', body, headers });
  await answer.body.dump();
  return { status: answer.statusCode, headers: answer.headers };
}

/** A request whose headers the receiver has read, but not yet its body. */
async function requestOnItsWay(url: string, headers: string) {
  const { hostname, port, host } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.write(`POST / HTTP/1.1\r\nHost: ${host}\r\nExpect: 100-continue\r\n${headers}\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toContain('100 Continue');
  return socket;
}

describe('listen', () => {
  it('prints a notification with its verdict, and its body with numbers exactly as sent', async () => {
    const { command, url } = await listen('--secret', SECRET);
    expect((await post(url, BODY, signed(BODY, SECRET))).status).toBe(200);
    const [text] = await command.printed(/\d\d:\d\d:\d\d .*\n\{[^]*\n\}\n/);
    expect(text).toMatch(new RegExp(`^[\\d:]{8} verified cdrCreated call ${ID} answered 200\\n`));
    expect(text).toContain('\n  "data": {\n    "cost": 12345678901234567890.10\n  }\n}\n');
  });

  it('reports a changed notification as not verified', async () => {
    const { command, url } = await listen('--secret', SECRET);
    await post(url, BODY.replace('call', 'sms'), signed(BODY, SECRET));
    await command.printed(
      / NOT VERIFIED \(No matching signature found\) cdrCreated sms .* answered 400\n/,
    );
  });

  it('reports a notification without a signature, or with an old one, as not verified', async () => {
    const { command, url } = await listen('--secret', SECRET);
    await post(url, BODY);
    await command.printed(/ NOT VERIFIED \(Missing required headers\) cdrCreated call /);
    await post(url, BODY, signed(BODY, SECRET, new Date(Date.now() - 600_000)));
    await command.printed(/ NOT VERIFIED \(Message timestamp too old\) cdrCreated call /);
  });

  it('accepts a signature by any of its secrets', async () => {
    const { command, url } = await listen('--secret', OTHER_SECRET, '--secret', SECRET);
    await post(url, BODY, signed(BODY, SECRET));
    await command.printed(/ verified cdrCreated call /);
  });

  it('says that it cannot verify without a secret', async () => {
    const { command, url } = await listen();
    await post(url, BODY, signed(BODY, SECRET));
    await command.printed(/ unverified \(no --secret\) cdrCreated call .* answered 200\n/);
  });

  it('prints a body that is not JSON unchanged, without control characters', async () => {
    const { command, url } = await listen();
    await post(`${url}path?q=1`, 'plain \u001b[31mtext \u202egpj.exe');
    await command.printed(
      / POST \/path\?q=1 answered 200\nplain \\u001b\[31mtext \\u202egpj\.exe\n/,
    );
  });

  it('prints no control characters of JSON members either', async () => {
    const { command, url } = await listen();
    await post(url, '{"event":"\\u001b[2J\\u202e\\nverified","resource":"call"}');
    await command.printed(/ \\u001b\[2J\\u202e\\u000averified call answered 200\n/);
  });

  it('answers 503 to the first notifications, then the given status, with Retry-After if it is a failure', async () => {
    const options = ['--fail-first', '2', '--status', '202', '--retry-after', '7'];
    const { command, url } = await listen(...options);
    const answers = [await post(url, BODY), await post(url, BODY), await post(url, BODY)];
    expect(answers.map(({ status }) => status)).toEqual([503, 503, 202]);
    expect(answers.map(({ headers }) => headers['retry-after'])).toEqual(['7', '7', undefined]);
    await command.printed(/answered 503\n[^]*answered 503\n[^]*answered 202\n/);
  });

  it('does not treat a GET as a notification or count it as one of the first', async () => {
    const { command, url } = await listen('--fail-first', '1');
    const answer = await request(`${url}up`);
    await answer.body.dump();
    expect(answer.statusCode).toBe(405);
    await command.printed(/ GET \/up is not a notification\n/);
    expect((await post(url, BODY)).status).toBe(503);
  });

  it('answers after the given delay', async () => {
    const { url } = await listen('--delay', '300');
    const start = performance.now();
    await post(url, BODY);
    expect(performance.now() - start).toBeGreaterThan(290);
  });

  it('reports that the caller did not wait for the answer', async () => {
    const { command, url } = await listen('--delay', '3600000');
    const impatient = new Agent({ headersTimeout: 50 });
    const call = request(url, { method: 'POST', body: BODY, dispatcher: impatient });
    await expect(call).rejects.toThrow();
    await impatient.destroy();
    await command.printed(/ cdrCreated call .* not answered: the caller has disconnected\n/);
  });

  it('ends on Ctrl-C without waiting for delayed answers or slow requests', async () => {
    const { command, url } = await listen('--delay', '3600000');
    const late = await requestOnItsWay(url, 'Content-Length: 2\r\n');
    late.write('{}');
    await requestOnItsWay(url, 'Content-Length: 2\r\n');
    expect(await command.stop('SIGINT')).toMatchObject({ code: 0, stderr: '' });
  });

  it('passes notifications on to a web application, and its answers back', async () => {
    const application = await startReceiver();
    application.answering = (_, response) => response.writeHead(418).end();
    const { command, url } = await listen('--secret', SECRET, '--forward-to', application.url);
    const headers = signed(BODY, SECRET);
    expect((await post(url, BODY, headers)).status).toBe(418);
    await command.printed(/ verified cdrCreated call .* answered 418\n/);
    expect(application.received[0]).toMatchObject({ body: BODY, headers });
    await application.close();
    expect((await post(url, BODY, headers)).status).toBe(502);
    await command.printed(/ answered 502 \(ECONNREFUSED\)\n/);
  });

  it('prints an object for each notification with --json', async () => {
    const command = new RunningCommand(['listen', '0', '--secret', SECRET, '--json']);
    running.push(command);
    const [, url] = await command.printed(/^\{"listeningOn":"([^"]*)"\}\n/);
    await post(url!, BODY, signed(BODY, SECRET));
    const [, line] = await command.printed(/\n(\{.*\})\n/);
    expect(JSON.parse(line!)).toMatchObject({
      request: 'POST /',
      verdict: 'verified',
      outcome: 'answered 200',
      headers: { 'webhook-id': ID },
      body: BODY,
    });
  });

  it.each(['SIGINT', 'SIGTERM'] as const)('ends with exit code 0 on %s', async (signal) => {
    const { command } = await listen();
    expect(await command.stop(signal)).toMatchObject({ code: 0, stderr: '' });
  });

  it('says in one sentence that its port is in use', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const { code, stdout, stderr } = await runCli(['listen', String(port)]);
    other.close();
    expect(code).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toBe(`Port ${String(port)} on 127.0.0.1 is in use.\n`);
  });

  it('verifies with a public key as well', async () => {
    const { command, url } = await listen('--secret', OTHER_SECRET, '--secret', PUBLIC_KEY);
    await post(url, BODY, signedByKey(BODY));
    await command.printed(/ verified cdrCreated/);
    await post(url, '{"id":"other"}', signedByKey(BODY));
    await command.printed(/NOT VERIFIED \(No matching signature found\) other /);
    await post(url, '{"id":"old"}', signedByKey('{"id":"old"}', new Date(Date.now() - 301_000)));
    await command.printed(/NOT VERIFIED \(Message timestamp too old or too new\) old /);
    await post(url, '{"id":"bare"}');
    await command.printed(/NOT VERIFIED \(Missing required headers\) bare /);
  });

  it.each([
    [['listen', '--status', '500'], "error: option '--status' needs a port"],
    [['listen', '0', '--application', '1'], "error: option '--application' excludes a port"],
    [
      ['listen', '0', '--forward-to', 'http://127.0.0.1:1', '--status', '500'],
      "error: the web application of --forward-to sets the answer, not '--status'",
    ],
    [['listen', '0', '--forward-to', 'http://a:geheim@127.0.0.1'], 'must have no credentials'],
    [['listen', '--url', 'https://api.example.com'], '--password-stdin is required'],
    [['listen', '65536'], 'It must be a whole number from 0 to 65535.'],
    [
      ['listen', '0', '--status', '199'],
      "error: option '--status <code>' argument '199' is invalid.",
    ],
    [['listen', '0', '--delay', '-1'], "error: option '--delay <ms>' argument '-1' is invalid."],
    [['listen', '0', 'more'], "error: too many arguments for 'listen'."],
    [
      ['listen', '0', '--secret', 'geheim'],
      "error: option '--secret': a secret must be whsec_ and Base64",
    ],
    [['listen', '0', '--secret', 'whsec_%geheim'], "error: option '--secret': a secret must be"],
    [['listen', '--secret', 'geheim'], "error: option '--secret': a secret must be"],
    [['listen', '--secret', PUBLIC_KEY], 'without a port it must be a secret, whsec_ and Base64'],
    [['listen', '0', '--secret', 'whpk_geheim'], "error: option '--secret': a secret must be"],
    [['listen', '0', '--secrt=geheim'], "error: unknown option '--secrt'"],
  ])(
    'refuses %j with exit code 2 and names the fault without repeating a secret',
    async (args, says) => {
      const { code, stdout, stderr } = await runCli(args);
      expect(code).toBe(2);
      expect(stdout).toBe('');
      expect(stderr).toContain(says);
      expect(stderr).not.toContain('geheim');
    },
  );
});
