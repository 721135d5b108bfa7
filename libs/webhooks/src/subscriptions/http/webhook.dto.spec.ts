import { expect, it } from 'vitest';
import { validDto } from '#libs/http';
import { ValidationError } from '#libs/kernel';
import type { Config } from '#libs/runtime';
import { CreateWebhookDto, UpdateWebhookDto } from './webhook.dto.js';

const CONFIG = {
  DELIVERY_ALLOWED_NETWORKS: [],
  DELIVERY_DENIED_NETWORKS: [],
  DELIVERY_CONCURRENCY: 50,
} as unknown as Config;
const SMALLEST = { event: 'cdrCreated', resource: 'all', targetUrl: 'https://target.example/' };

const read = <Dto extends object>(dto: new () => Dto, body: object) =>
  validDto(dto, body as Record<string, unknown>, dto.name === CreateWebhookDto.name, CONFIG);

const membersOf = (dto: object): object => Object.fromEntries(Object.entries(dto));

function faultsOf(dto: new () => object, body: object): string[] {
  try {
    read(dto, body);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.faults.map(({ field, code }) => `${field} ${code}`);
  }
}

it('reads null as an absent member of a new subscription', () => {
  const body = { ...SMALLEST, name: null, signature: null, ordered: null };
  expect(membersOf(read(CreateWebhookDto, body))).toStrictEqual(SMALLEST);
});

it('changes only the given fields', () => {
  const changes = read(UpdateWebhookDto, { name: null, resource: ' sms, call,sms' });
  expect(membersOf(changes)).toStrictEqual({ name: null, resource: 'sms,call' });
});

it('reads null as the default of signature and ordered', () => {
  const changes = read(UpdateWebhookDto, { signature: null, ordered: null });
  expect(changes).toEqual({ signature: 'hmac-sha256', ordered: false });
});

it('requires three members of a new subscription only', () => {
  const missing = ['event required', 'resource required', 'targetUrl required'];
  expect(faultsOf(CreateWebhookDto, {})).toEqual(missing);
  expect(faultsOf(UpdateWebhookDto, {})).toEqual([]);
});

// On a change, the service checks these, because the stored value is always accepted.
it.each([
  ['an address that is not public', { targetUrl: 'https://192.0.2.1/' }, 'targetUrl not_allowed'],
  ['a reserved port', { targetUrl: 'https://target.example:81/' }, 'targetUrl not_allowed'],
  ['a masked target', { targetUrl: 'https://***@target.example/' }, 'targetUrl format'],
  ['a masked header', { headers: { A: '***' } }, '/headers/A format'],
  ['more calls than are allowed', { maxConcurrent: 51 }, 'maxConcurrent not_allowed'],
])('refuses %s for a new subscription only', (_, fields, fault) => {
  expect(faultsOf(CreateWebhookDto, { ...SMALLEST, ...fields })).toEqual([fault]);
  expect(faultsOf(UpdateWebhookDto, fields)).toEqual([]);
});
