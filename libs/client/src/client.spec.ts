import { expect, expectTypeOf, it } from 'vitest';
import { answerOf, everyOf, idOf, RefusedError } from './answers.js';
import { type Client, createClient, type Schemas } from './client.js';

/** A client whose requests are answered here, in turn, and the requests that it has sent. */
function aClient(...answers: Response[]): { client: Client; sent: Request[] } {
  const sent: Request[] = [];
  const client = createClient({
    baseUrl: 'https://api.example.com/hooks/',
    username: 'demo',
    password: 'geheim:süß',
    fetch: (request) => {
      sent.push(request);
      const answer = answers.shift();
      return answer ? Promise.resolve(answer) : Promise.reject(new TypeError('fetch failed'));
    },
  });
  return { client, sent };
}

const aProblem: Schemas['Problem'] = {
  type: 'about:blank',
  title: 'Not Found',
  status: 404,
  detail: 'There is no such resource.',
  instance: '/v1/webhooks/1',
  code: 'not_found',
  error: 'There is no such resource.',
  requestId: 'r-1',
};

/** What is thrown. */
function failure(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    () => undefined,
    (error: unknown) => error,
  );
}

it("sends no credentials without a username: the browser adds its session's cookie", async () => {
  const sent: Request[] = [];
  const client = createClient({
    baseUrl: 'https://api.example.com',
    fetch: (request) => {
      sent.push(request);
      return Promise.resolve(Response.json([]));
    },
  });
  expect(await answerOf(client.GET('/v1/webhooks'))).toEqual([]);
  expect(sent.map(({ headers }) => headers.get('Authorization'))).toEqual([null]);
});

it('calls behind the base URL, in the name of the user', async () => {
  const { client, sent } = aClient(Response.json({ secret: 'whsec_1' }));
  const call = client.GET('/v1/webhooks/{id}/secret', { params: { path: { id: '4711' } } });
  expect(await answerOf(call)).toEqual({ secret: 'whsec_1' });
  expect(sent[0]?.url).toBe('https://api.example.com/hooks/v1/webhooks/4711/secret');
  const [scheme, credentials = ''] = sent[0]?.headers.get('Authorization')?.split(' ') ?? [];
  expect([scheme, Buffer.from(credentials, 'base64').toString()]).toEqual([
    'Basic',
    'demo:geheim:süß',
  ]);
});

it('throws the problem that a request is answered with', async () => {
  const { client } = aClient(Response.json(aProblem, { status: 404 }));
  const error = await failure(answerOf(client.GET('/v1/environments')));
  expect(error).toBeInstanceOf(RefusedError);
  expect(error).toMatchObject({ status: 404, problem: aProblem, message: aProblem.error });
});

it.each([
  ['a page', new Response('<h1>Bad Gateway</h1>', { status: 502 })],
  ['another object', Response.json({ message: 'later' }, { status: 502 })],
  ['nothing', new Response(null, { status: 502, headers: { 'Content-Length': '0' } })],
])('throws, too, where a proxy answers with %s', async (_, answer) => {
  const { client } = aClient(answer);
  const error = await failure(answerOf(client.GET('/v1/environments')));
  expect(error).toBeInstanceOf(RefusedError);
  expect(error).toMatchObject({ status: 502, problem: undefined, message: 'The answer is 502.' });
});

it('rejects as fetch does where there is no answer', async () => {
  const { client } = aClient();
  expect(await failure(client.GET('/v1/environments'))).toEqual(new TypeError('fetch failed'));
});

it('reads a list page by page, for as long as there is a next one', async () => {
  const next = '<https://api.example.com/hooks/v1/events?limit=2&after=b>; rel="next"';
  const pages = () => [
    Response.json([{ id: 'a' }, { id: 'b' }], { headers: { Link: next } }),
    Response.json([{ id: 'c' }]),
  ];
  const { client, sent } = aClient(...pages());
  const ids: string[] = [];
  const events = everyOf((page) =>
    client.GET('/v1/events', { params: { query: { limit: 2, ...page } } }),
  );
  for await (const { id } of events) ids.push(id);
  expect(ids).toEqual(['a', 'b', 'c']);
  expect(sent.map(({ url }) => new URL(url).search)).toEqual(['?limit=2', '?limit=2&after=b']);
});

it('takes the id from the end of an address', () => {
  expect(idOf({ href: 'https://api.example.com/v1/webhooks/4711' })).toBe('4711');
});

it('has the types of the description', () => {
  // Compiled, never called.
  const calls = async (client: Client): Promise<void> => {
    const shown = await client.GET('/v1/applications/{id}', { params: { path: { id: '1' } } });
    expectTypeOf(shown.data).toEqualTypeOf<Schemas['Application'] | undefined>();
    if (shown.error) {
      expectTypeOf(shown.error).toEqualTypeOf<Schemas['Problem']>();
    }
    // @ts-expect-error: there is no such path
    await client.GET('/v1/application');
    // @ts-expect-error: the path has a parameter
    await client.GET('/v1/applications/{id}');
    await client.GET('/v1/webhooks', { params: { query: { scope: 'all', enabled: true } } });
    // @ts-expect-error: the filter is no text
    await client.GET('/v1/webhooks', { params: { query: { enabled: 'yes' } } });
    await client.POST('/v1/applications', { body: { name: 'Shop', voiceUrl: 'https://a/' } });
    // @ts-expect-error: the name is required
    await client.POST('/v1/applications', { body: { voiceUrl: 'https://a/' } });
    const event = { event: 'cdrCreated', resource: 'call', data: { any: ['thing'] } } as const;
    await client.POST('/v1/events', { body: { ...event, accountId: '83346' } });
    // @ts-expect-error: there is no such kind of event
    await client.POST('/v1/events', { body: { ...event, event: 'other', accountId: '83346' } });
  };
  expectTypeOf(calls).toBeFunction();
});
