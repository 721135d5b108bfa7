import {
  ApplicationsApi,
  Configuration,
  EventKind,
  EventsApi,
  ProblemFromJSON,
  Resource,
  ResponseError,
  Signature,
  WebhooksApi,
} from './generated/index.js';

const [basePath = '', customer = '', platform = ''] = process.argv.slice(2);

function configurationOf(login: string): Configuration {
  const [username = '', password = ''] = login.split(':');
  return new Configuration({ basePath, username, password });
}

const idOf = ({ href }: { href: string }) => href.split('/').at(-1) ?? '';

const applicationsApi = new ApplicationsApi(configurationOf(customer));
const createApplication = {
  name: 'Shop',
  voiceUrl: 'https://shop.example.com/voice',
  messagingUrl: null,
};
const id = idOf(await applicationsApi.applicationsCreate({ createApplication }));
await applicationsApi.applicationsUpdate({ id, updateApplication: { name: 'Shop 2' } });
const applications = await applicationsApi.applicationsList();
const shown = await applicationsApi.applicationsShow({ id });

const webhooksApi = new WebhooksApi(configurationOf(customer));
const createWebhook = {
  event: EventKind.CdrCreated,
  resource: 'all',
  targetUrl: 'https://hooks.example.com/switchhook',
  retry: { schedule: [10, 60] },
  signature: Signature.Ed25519,
  headers: { 'X-Api-Key': 'f2c1a0b9' },
  payload: { order: 4711 },
};
const webhookId = idOf(await webhooksApi.webhooksCreate({ createWebhook }));
await webhooksApi.webhooksUpdate({ id: webhookId, updateWebhook: { name: 'Billing' } });
const webhooks = await webhooksApi.webhooksList();
const webhook = await webhooksApi.webhooksShow({ id: webhookId });

const eventsApi = new EventsApi(configurationOf(platform));
const event = { event: EventKind.CdrCreated, resource: Resource.Call, data: { duration: 33 } };
const reported = await eventsApi.eventsReport({ reportedEvent: { ...event, applicationId: id } });
const batch = await eventsApi.eventsReportBatch({
  eventBatch: {
    events: [
      { ...event, applicationId: id },
      { ...event, applicationId: '0' },
    ],
  },
});

await webhooksApi.webhooksDelete({ id: webhookId });
await applicationsApi.applicationsDelete({ id });
const refusal = await applicationsApi.applicationsShow({ id }).then(
  () => undefined,
  async (error: unknown) => ProblemFromJSON(await (error as ResponseError).response.json()).code,
);

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
    refusal,
  }),
);
