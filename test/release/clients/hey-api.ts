import { client } from './generated/client.gen.js';
import {
  applicationsCreate,
  applicationsDelete,
  applicationsList,
  applicationsShow,
  applicationsUpdate,
  eventsReport,
  eventsReportBatch,
  webhooksCreate,
  webhooksDelete,
  webhooksList,
  webhooksShow,
  webhooksUpdate,
} from './generated/index.js';

const [baseUrl = '', customer = '', platform = ''] = process.argv.slice(2);
client.setConfig({ baseUrl, auth: () => customer });

const ok = { throwOnError: true } as const;
const idOf = ({ href }: { href: string }) => href.split('/').at(-1) ?? '';

const application = {
  name: 'Shop',
  voiceUrl: 'https://shop.example.com/voice',
  messagingUrl: null,
};
const id = idOf((await applicationsCreate({ body: application, ...ok })).data);
await applicationsUpdate({ path: { id }, body: { name: 'Shop 2' }, ...ok });
const applications = (await applicationsList(ok)).data;
const shown = (await applicationsShow({ path: { id }, ...ok })).data;

const { data: created } = await webhooksCreate({
  body: {
    event: 'cdrCreated',
    resource: 'all',
    targetUrl: 'https://hooks.example.com/switchhook',
    retry: { schedule: [10, 60] },
    signature: 'ed25519',
    headers: { 'X-Api-Key': 'f2c1a0b9' },
    payload: { order: 4711 },
  },
  ...ok,
});
const webhookId = idOf(created);
await webhooksUpdate({ path: { id: webhookId }, body: { name: 'Billing' }, ...ok });
const webhooks = (await webhooksList(ok)).data;
const webhook = (await webhooksShow({ path: { id: webhookId }, ...ok })).data;

const event = { event: 'cdrCreated', resource: 'call', data: { duration: 33 } } as const;
const { data: reported } = await eventsReport({
  body: { ...event, applicationId: id },
  auth: () => platform,
  ...ok,
});
const { data: batch } = await eventsReportBatch({
  body: {
    events: [
      { ...event, applicationId: id },
      { ...event, applicationId: '0' },
    ],
  },
  auth: () => platform,
  ...ok,
});

await webhooksDelete({ path: { id: webhookId }, ...ok });
await applicationsDelete({ path: { id }, ...ok });
const { error } = await applicationsShow({ path: { id } });

console.log(
  JSON.stringify({
    applications: applications.length,
    name: shown.name,
    voiceUrl: shown.voiceUrl,
    webhooks: webhooks.length,
    label: webhook.name,
    signature: webhook.signature,
    schedule: webhook.retry?.schedule,
    headers: webhook.headers,
    payload: webhook.payload,
    deliveries: reported.deliveries,
    batch: batch.results.map(({ deliveries, code }) => deliveries ?? code),
    refusal: error?.code,
  }),
);
