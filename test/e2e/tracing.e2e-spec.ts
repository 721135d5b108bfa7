import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { eventually } from '#tools/eventually';
import { createUser } from '../support/accounts.js';
import { createTestDatabase, type TestDatabase } from '../support/database.js';
import { clientOf, send } from '../support/http.js';
import { startApi, startWorker } from '../support/processes.js';
import type { ServiceProcess } from '../support/service-process.js';
import { type Receiver, startReceiver } from '../support/receiver.js';
import { aSubscription } from '../support/rows.js';
import {
  type CollectedSpan,
  startTraceCollector,
  type TraceCollector,
} from '../support/trace-collector.js';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PRODUCER = 'b7ad6b7169203331';

let database: TestDatabase;
let collector: TraceCollector;
let receiver: Receiver;
let api: ServiceProcess;
let worker: ServiceProcess;
let accountId: string;
let customer: string;
let platform: string;

beforeAll(async () => {
  [database, collector, receiver] = await Promise.all([
    createTestDatabase(),
    startTraceCollector(),
    startReceiver(),
  ]);
  const environment = {
    DATABASE_URL: database.url,
    DELIVERY_ALLOWED_NETWORKS: '127.0.0.0/8',
    DELIVERY_RETRY_SCHEDULE: '100ms',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
  };
  [api, worker] = await Promise.all([startApi(environment), startWorker(environment)]);
  ({ id: accountId, auth: customer } = await createUser(database, 'customer'));
  ({ auth: platform } = await createUser(database, 'platform', 'platform'));
});
afterAll(async () => {
  await Promise.all([api.stop(), worker.stop()]);
  await Promise.all([collector.close(), receiver.close(), database.drop()]);
});
beforeEach(async () => {
  await database.query('UPDATE webhooks SET deleted_at = now() WHERE deleted_at IS NULL');
  receiver.received.length = 0;
  receiver.answering = (_, response) => response.end();
});

const event = () => ({
  event: 'cdrCreated',
  resource: 'call',
  accountId,
  data: { secret: 'hidden' },
});

/** The spans of a trace, once all expected ones have arrived. */
function spansOf(trace: string, count: number): Promise<CollectedSpan[]> {
  return eventually(
    () => Promise.resolve(collector.spans.filter(({ traceId }) => traceId === trace)),
    (spans) => spans.length === count,
  );
}

it('shows producer, API, queue, worker and target in one trace', async () => {
  receiver.answering = (_, response) => {
    response.writeHead(receiver.received.length === 1 ? 500 : 200).end();
  };
  const url = receiver.url.replace('http://', 'http://user:hidden@');
  await aSubscription(database, accountId, { target_url: `${url}/hidden?token=hidden` });
  const answer = await send('POST', `${api.url}/v1/events`, {
    auth: platform,
    headers: { traceparent: `00-${TRACE}-${PRODUCER}-01` },
    body: event(),
  });
  expect(answer.status).toBe(202);
  await receiver.until((received) => received.length === 2);
  const spans = await spansOf(TRACE, 6);

  const childrenOf = (parent: string) =>
    spans.filter(({ parentSpanId }) => parentSpanId === parent);
  const [request, ...noOthers] = childrenOf(PRODUCER);
  expect(noOthers).toEqual([]);
  expect(request).toMatchObject({
    service: 'switchhook-api',
    kind: 2,
    name: 'POST /v1/events',
    attributes: { 'http.request.method': 'POST', 'http.response.status_code': 202 },
  });
  const [publish] = childrenOf(request!.spanId);
  expect(publish).toMatchObject({ service: 'switchhook-api', kind: 4, name: 'deliveries publish' });
  const attempts = childrenOf(publish!.spanId);
  expect(attempts.map(({ attributes }) => attributes['switchhook.attempt'])).toEqual([1, 2]);
  for (const [index, status] of [500, 200].entries()) {
    expect(attempts[index]).toMatchObject({
      service: 'switchhook-worker',
      kind: 5,
      name: 'deliveries process',
      attributes: { 'messaging.message.id': receiver.received[index]?.id },
    });
    const [call] = childrenOf(attempts[index]!.spanId);
    expect(call).toMatchObject({
      kind: 3,
      attributes: { 'server.address': '127.0.0.1', 'http.response.status_code': status },
    });
    expect(call?.status?.code ?? 0).toBe(status === 500 ? 2 : 0);
    expect(receiver.received[index]?.headers.traceparent).toBe(`00-${TRACE}-${call?.spanId}-01`);
  }
  expect(JSON.stringify(spans)).not.toContain('hidden');
});

it('traces a test from the customer to the target', async () => {
  const webhook = await aSubscription(database, accountId, { target_url: receiver.url });
  const answer = await clientOf(api.url, customer).post(`/v1/webhooks/${webhook}/test`);
  expect(answer.status).toBe(202);
  await receiver.until((received) => received.length === 1);
  const [, trace = ''] = String(receiver.received[0]?.headers.traceparent).split('-');
  const names = (await spansOf(trace, 4)).map(({ name }) => name).toSorted();
  expect(names).toEqual([
    'POST',
    'POST /v1/webhooks/:id/test',
    'deliveries process',
    'deliveries publish',
  ]);
});

it('records no spans for requests that the caller does not sample, nor for health checks', async () => {
  const untraced = '1af7651916cd43dd8448eb211c80319c';
  await aSubscription(database, accountId, { target_url: receiver.url });
  await send('POST', `${api.url}/v1/events`, {
    auth: platform,
    headers: { traceparent: `00-${untraced}-${PRODUCER}-00` },
    body: event(),
  });
  await receiver.until((received) => received.length === 1);
  expect(receiver.received[0]?.headers.traceparent).toMatch(`00-${untraced}-`);
  // Spans arrive in order, so an earlier one would have arrived by now.
  const later = await clientOf(api.url, customer).get('/v1/webhooks');
  expect(later.status).toBe(200);
  await eventually(
    () => Promise.resolve(collector.spans.map(({ name }) => name)),
    (names) => names.includes('GET /v1/webhooks'),
  );
  expect(collector.spans.filter(({ traceId }) => traceId === untraced)).toEqual([]);
  expect(collector.spans.filter(({ name }) => name.includes('health'))).toEqual([]);
});
