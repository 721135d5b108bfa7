import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { REPORTED_KINDS } from '#libs/webhooks/domain';
import { runCli } from '../support/command-line.js';

/** A request as the API would receive it. */
interface Received {
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: Record<string, unknown> & { events?: Record<string, unknown>[] };
}

const ACCEPTED = { id: 'u', href: 'http://api/v1/events/u', duplicate: false, deliveries: 2 };

let server: Server;
let url: string;
let received: Received[];
/** Their bodies as they came. */
let bodies: string[];
/** The answers to the next requests; by default, an API that accepts everything. */
let answerWith: ((request: Received) => [status: number, body: string]) | undefined;

beforeAll(async () => {
  server = createServer((request, response) => {
    void text(request).then((raw) => {
      const body = JSON.parse(raw) as Received['body'];
      const got = { path: request.url, headers: request.headers, body };
      received.push(got);
      bodies.push(raw);
      const [status, answer] = (answerWith ?? accept)(got);
      response.writeHead(status, { 'content-type': 'application/json' }).end(answer);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
});

beforeEach(() => {
  received = [];
  bodies = [];
  answerWith = undefined;
});

afterAll(() => server.close());

function accept({ body }: Received): [number, string] {
  const results = body.events?.map(() => ACCEPTED);
  return [202, JSON.stringify(results ? { results } : ACCEPTED)];
}

const send = (args: string[], input?: string) =>
  runCli(['events', 'send', '--url', url, ...args], input === undefined ? {} : { input });

const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;

describe('events send', () => {
  it("sends one event of each kind, in one batch, as the trial installation's reporter", async () => {
    const { code, stdout, stderr } = await send(['--application', '12']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(received).toHaveLength(1);
    expect(received[0]).toMatchObject({
      path: '/v1/events/batch',
      headers: {
        'content-type': 'application/json',
        authorization: basic('reporter:reporter-secret'),
      },
    });
    const events = received[0]!.body.events!;
    expect(events.map(({ event }) => event)).toEqual(REPORTED_KINDS);
    expect(events.every(({ applicationId }) => applicationId === '12')).toBe(true);
    const lines = stdout.trimEnd().split('\n');
    expect(lines.map((line) => line.split(' ')[0])).toEqual(REPORTED_KINDS);
    expect(lines).toContain('smsdlr sms 2 deliveries http://api/v1/events/u');
    expect(lines).toContain('cdrRated call 2 deliveries http://api/v1/events/u');
  });

  it('sends a single event with the given fields', async () => {
    const args = ['--account', '7', '--event', 'cdrRated', '--resource', 'transcription'];
    const { stdout } = await send([...args, '--id', 'cdr-1']);
    expect(received[0]!.path).toBe('/v1/events');
    expect(received[0]!.body).toMatchObject({
      id: 'cdr-1',
      event: 'cdrRated',
      resource: 'transcription',
      accountId: '7',
      data: { accountId: '7', applicationType: 'tropo-web' },
    });
    expect(received[0]!.body).not.toHaveProperty('applicationId');
    expect(stdout).toBe('cdrRated transcription 2 deliveries http://api/v1/events/u\n');
  });

  it('names the account for a router', async () => {
    await send(['--account', '7', '--event', 'smsdlr']);
    await send(['--account', '7']);
    await send(['--from-file', '-', '--account', '7'], '[{"id":"1"},{"id":"2"}]');
    expect(received.map(({ headers }) => headers['switchhook-account'])).toEqual(['7', '7', '7']);
    await send(['--application', '12']);
    expect(received.at(-1)!.headers).not.toHaveProperty('switchhook-account');
  });

  it('sends at most 1,000 events in a batch', async () => {
    const { code, stdout } = await send(['--application', '12', '--count', '1000']);
    expect(code).toBe(0);
    expect(received.map(({ body }) => body.events!.length)).toEqual(REPORTED_KINDS.map(() => 1000));
    expect(stdout.trimEnd().split('\n')).toHaveLength(1000 * REPORTED_KINDS.length);
  });

  it('calls the API on this machine at the given HOST and PORT', async () => {
    const { port } = new URL(url);
    const surroundings = { env: { HOST: '0.0.0.0', PORT: port } };
    const { code } = await runCli(['events', 'send', '--application', '12'], surroundings);
    expect(code).toBe(0);
    expect(received).toHaveLength(1);
  });

  it('reads the password from standard input, without its line break', async () => {
    const args = ['--application', '12', '--user', 'demo', '--password-stdin'];
    await send(args, 'pass wörd \n');
    expect(received[0]!.headers.authorization).toBe(basic('demo:pass wörd '));
  });

  it('keeps the path of the URL', async () => {
    const behind = ['events', 'send', '--url', `${url}/hooks`, '--account', '7'];
    await runCli([...behind, '--event', 'smsdlr']);
    expect(received[0]!.path).toBe('/hooks/v1/events');
  });

  it('reports that an event is a duplicate', async () => {
    answerWith = () => [202, JSON.stringify({ ...ACCEPTED, duplicate: true })];
    const { stdout } = await send(['--application', '12', '--event', 'smsdlr', '--id', 'k']);
    expect(stdout).toBe('smsdlr sms duplicate http://api/v1/events/u\n');
  });

  it('prints the error sentence of a refused request and fails', async () => {
    answerWith = () => [401, JSON.stringify({ error: 'Valid credentials are needed.' })];
    const { code, stdout, stderr } = await send(['--application', '12']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`${url} refused the request: Valid credentials are needed.\n`);
  });

  it('prints the error sentence of each refused event of a batch and fails', async () => {
    answerWith = () => {
      const refused = { error: 'applicationId is unknown.', code: 'validation_failed' };
      return [202, JSON.stringify({ results: [ACCEPTED, refused, ACCEPTED] })];
    };
    const threeRecords = ['--application', '12', '--event', 'cdrCreated', '--count', '3'];
    const { code, stdout, stderr } = await send(threeRecords);
    expect(code).toBe(1);
    expect(stdout.trimEnd().split('\n')).toHaveLength(2);
    expect(stderr).toBe(
      'event 2, cdrCreated call, refused: applicationId is unknown.\n1 of 3 events was refused.\n',
    );
  });

  it('prints the status of an answer that is not from our API', async () => {
    answerWith = () => [502, '<html>'];
    const { code, stderr } = await send(['--application', '12']);
    expect(code).toBe(1);
    expect(stderr).toBe(`${url} refused the request: it answered 502 Bad Gateway.\n`);
  });

  const inFile = (text: string) => send(['--from-file', '-'], text);

  it.each([
    ['an array', '[{"id":"1", "data":{"n":12345678901234567890}},\n {"id":"2"}]'],
    ['an object on each line', '{"id":"1", "data":{"n":12345678901234567890}}\n\n{"id":"2"}\n'],
    [
      'the body of a batch',
      '{"events": [{"id":"1", "data":{"n":12345678901234567890}}, {"id":"2"}]}',
    ],
    ['behind a mark', '\ufeff[{"id":"1", "data":{"n":12345678901234567890}}, {"id":"2"}]'],
  ])('sends the events of a file, %s, exactly as they are written', async (_, text) => {
    const { code, stderr } = await inFile(text);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(bodies).toEqual([
      '{"events":[{"id":"1", "data":{"n":12345678901234567890}},{"id":"2"}]}',
    ]);
  });

  it('sends a single event of a file by itself', async () => {
    const event = '{ "event": "smsdlr",\n "data": 1.10 }';
    expect((await inFile(event)).code).toBe(0);
    expect(received[0]!.path).toBe('/v1/events');
    expect(bodies).toEqual([event]);
  });

  it('sends the events of a large file in several batches', async () => {
    const event = JSON.stringify({ data: 'x'.repeat(1_000) });
    expect((await inFile(`${event}\n`.repeat(2_500))).code).toBe(0);
    const sizes = received.map(({ body }) => body.events?.length ?? 0);
    expect(sizes.length).toBeGreaterThan(2);
    expect(sizes.reduce((sum, size) => sum + size)).toBe(2_500);
    expect(Math.max(...bodies.map((body) => body.length))).toBeLessThan(1_010_000);
  });

  it.each([
    ['', 'There is no event in standard input.'],
    ['[]', 'There is no event in standard input.'],
    ['{"events":[]}', 'There is no event in standard input.'],
    ['{"events":[1]}', 'In standard input, event 1 is not a JSON object.'],
    ['{"id":1}\n[]', 'In standard input, line 2 is not a JSON object.'],
    ['{"id":1}\n\nnonsense', 'standard input is not JSON (line 3, column 1).'],
    ['{"id":1}\n{"id":2,}', 'standard input is not JSON (line 2, column 9).'],
    ['[{"id":1},\n{"id":2}', 'standard input is not JSON (line 2, column 9).'],
    ['{\n "id": 1,\n}', 'standard input is not JSON (line 3, column 1).'],
    ['event,resource\ncdrCreated,call', 'standard input is not JSON (line 1, column 1).'],
    ['{\0"\0}\0', 'The text in standard input is not UTF-8.'],
    ['[1]', 'In standard input, event 1 is not a JSON object.'],
    ['"text"', 'In standard input, event 1 is not a JSON object.'],
  ])('sends nothing of a file with a fault: %j', async (text, says) => {
    const { code, stderr } = await inFile(text);
    expect([code, stderr]).toEqual([1, `${says}\n`]);
    expect(received).toEqual([]);
  });

  it('names the line of a file whose event is refused', async () => {
    const refused = { error: 'data is required.', code: 'validation_failed' };
    answerWith = () => [202, JSON.stringify({ results: [ACCEPTED, refused] })];
    const { stderr } = await inFile('{"event":"smsdlr"}\n\n{"event":"cdrRated"}\n');
    expect(stderr).toBe(
      'line 3, cdrRated ?, refused: data is required.\n1 of 2 events was refused.\n',
    );
  });

  it('prints an object for each event with --json', async () => {
    const { stdout } = await send(['--application', '12', '--event', 'smsdlr', '--json']);
    expect(JSON.parse(stdout)).toEqual({ event: 'smsdlr', resource: 'sms', ...ACCEPTED });
  });

  it('says in one sentence that the API cannot be reached', async () => {
    const gone = createServer().listen(0, '127.0.0.1');
    await once(gone, 'listening');
    const { port } = gone.address() as AddressInfo;
    gone.close();
    await once(gone, 'close');
    const nowhere = `http://127.0.0.1:${String(port)}`;
    const ending = await runCli(['events', 'send', '--url', nowhere, '--account', '7']);
    expect(ending.code).toBe(1);
    expect(ending.stderr).toBe(`${nowhere} cannot be reached (ECONNREFUSED).\n`);
  });

  it.each([
    [[], '--application or --account is required'],
    [['--account', 'demo'], "error: option '--account <id>' argument 'demo' is invalid."],
    [['--account', '7', '--count', '1001'], 'It must be a whole number from 1 to 1000.'],
    [['--account', '7', '--event', 'sms'], `Allowed choices are ${REPORTED_KINDS.join(', ')}.`],
    [['--account', '7', '--resource', 'all'], 'Allowed choices are call, sms, transcription.'],
    [['--account', '7', '--user', 'other'], '--password-stdin is required'],
    [['--from-file', 'events.json', '--count', '3'], '--from-file and --count exclude each other'],
    [['--from-file', '-', '--password-stdin'], 'both read standard input'],
    [['--account', '7', '--url', 'https://api.example.com'], '--password-stdin is required'],
    [['--account', '7', '--url', 'http://a:geheim@127.0.0.1'], 'must have no credentials'],
    [['--account', '7', '--url', 'http://:geheim@127.0.0.1'], 'must have no credentials'],
    [['--account', '7', '--url', 'http://127.0.0.1/?geheim'], 'no query and no fragment'],
    [['--account', '7', '--url', 'http://127.0.0.1/base/v1/'], 'the address without /v1'],
    [['--account', '7', '--url', 'ftp://a:geheim@127.0.0.1'], 'must be an http or https URL'],
  ])('refuses %j with exit code 2, names the fault and sends nothing', async (args, says) => {
    const { code, stderr } = await send(args);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(stderr).not.toContain('geheim');
    expect(received).toEqual([]);
  });
});
