import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { validDto } from '#libs/http';
import { ValidationError } from '#libs/kernel';
import { RedeliverRequestDto, ReplayRequestDto, SendRequestDto } from './replay.dto.js';

const NOW = new Date('2026-11-21T12:00:00Z');
const since = '2026-11-20T00:00:00Z';

beforeAll(() => void vi.useFakeTimers({ now: NOW, toFake: ['Date'] }));
afterAll(() => void vi.useRealTimers());

const readAs = <Dto extends object>(dto: new () => Dto, value: Record<string, unknown>) =>
  validDto(dto, value, true);
const read = (value: Record<string, unknown>) => readAs(ReplayRequestDto, value);

function faultsIn(
  body: Record<string, unknown>,
  dto: new () => object = ReplayRequestDto,
): string[] {
  try {
    readAs(dto, body);
    return [];
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    return error.faults.map(({ field, code }) => `${field} ${code}`);
  }
}

it('reads a range and states, by default everything unsuccessful until now', () => {
  expect(read({ since, until: null, states: null }).filter('4711')).toEqual({
    webhookId: '4711',
    since: new Date(since),
    states: ['exhausted', 'cancelled'],
  });
  expect(read({ since, missed: true, states: null }).filter('4711')).toEqual({
    webhookId: '4711',
    since: new Date(since),
    states: [],
    missed: true,
  });
  expect(read({ since, missed: false }).filter('4711')).not.toHaveProperty('missed');
  const until = '2026-11-20T01:00:00+00:30';
  const states = ['succeeded', 'exhausted', 'succeeded'];
  expect(read({ since, until, states }).filter('4711')).toEqual({
    webhookId: '4711',
    since: new Date(since),
    until: new Date(until),
    states: ['succeeded', 'exhausted'],
  });
});

it.each<[body: Record<string, unknown>, ...faults: string[]]>([
  [{}, 'since required'],
  [{ since: null }, 'since required'],
  [{ since: 1 }, 'since type'],
  [{ since: 'yesterday' }, 'since format'],
  [{ since: NOW.toISOString() }, 'since range'],
  [{ since: '2026-11-22T00:00:00Z', until: '2026-11-23T00:00:00Z' }, 'since range'],
  [{ since, until: since }, 'until range'],
  [{ since, until: 'soon' }, 'until format'],
  [{ since, states: 'exhausted' }, 'states type'],
  [{ since, states: [] }, 'states length'],
  [{ since, states: Array(4).fill('exhausted') }, 'states length'],
  [{ since, states: ['pending', 'exhausted', 7] }, '/states/0 choice', '/states/2 type'],
  [{ since, dryRun: 'true' }, 'dryRun type'],
  [{ since, missed: 'true' }, 'missed type'],
  [{ since, missed: true, states: ['exhausted'] }, 'states conflict'],
  [{ until: 'soon', states: ['x'] }, 'since required', 'until format', '/states/0 choice'],
])('reports every fault of %j', (body, ...faults) => {
  expect(faultsIn(body)).toEqual(faults);
});

it('reads the filters of a redelivery', () => {
  const nothing = { state: null, event: null, webhookId: null, applicationId: null, status: null };
  expect(readAs(RedeliverRequestDto, { since, ...nothing }).filter()).toEqual({
    since: new Date(since),
    states: ['exhausted', 'cancelled'],
  });
  const filters = { event: 'cdrRated', applicationId: '5080983', status: '5xx' };
  const body = { since, state: 'succeeded', webhookId: 4711, ...filters };
  expect(readAs(RedeliverRequestDto, body).filter()).toEqual({
    since: new Date(since),
    states: ['succeeded'],
    webhookId: '4711',
    ...filters,
  });
});

it('reads the filters of what is sent now', () => {
  const states = ['pending', 'exhausted', 'cancelled'];
  expect(readAs(SendRequestDto, { since }).filter()).toEqual({ since: new Date(since), states });
  expect(readAs(SendRequestDto, { since, state: 'pending' }).filter().states).toEqual(['pending']);
  expect(faultsIn({ since, state: 'parked' }, SendRequestDto)).toEqual(['state choice']);
});

it.each<[body: Record<string, unknown>, ...faults: string[]]>([
  [{ state: 'pending' }, 'state choice'],
  [{ state: ['exhausted'] }, 'state type'],
  [{ event: 'cdrMade' }, 'event choice'],
  [{ webhookId: -1, applicationId: true }, 'webhookId format', 'applicationId type'],
  [{ status: 'soon' }, 'status choice'],
  [{ status: '6xx' }, 'status choice'],
  [{ status: 404 }, 'status type'],
  [{ until: since }, 'until range'],
])('reports every fault in the filters %j', (body, ...faults) => {
  expect(faultsIn({ since, ...body }, RedeliverRequestDto)).toEqual(faults);
});
