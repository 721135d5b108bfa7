import { expect, it } from 'vitest';
import { JsonReader } from '#libs/kernel';
import { givenEvent, readEvent, refusalFault } from './event.body.js';

/** Runs a generator to its end. */
function run<Result>(work: Generator<void, Result>): Result {
  for (;;) {
    const { done, value } = work.next();
    if (done === true) return value;
  }
}

function read(text: string, pointer?: string, isStrict?: boolean) {
  const json = new JsonReader(Buffer.from(text));
  return readEvent(run(givenEvent(json)), json, pointer, isStrict);
}

function faultsIn(text: string, pointer?: string): string[] {
  const result = read(text, pointer);
  return 'faults' in result ? result.faults.map(({ field, code }) => `${field} ${code}`) : [];
}

it('reads ids as integers or digits, and keeps data as it was written', () => {
  const text =
    '{"id":"k","event":"cdrCreated","resource":"call","applicationId":5080983,"accountId":"83346",' +
    '"occurredAt":"2026-11-21T12:00:00.5+01:00","data":{ "n": 1.0 },"unknown":1}';
  expect(read(text)).toEqual({
    event: {
      producerId: 'k',
      event: 'cdrCreated',
      resource: 'call',
      applicationId: '5080983',
      accountId: '83346',
      occurredAt: new Date('2026-11-21T11:00:00.500Z'),
      data: '{ "n": 1.0 }',
    },
  });
});

it('treats null as an absent member', () => {
  const text =
    '{"id":null,"event":"smsdlr","resource":"sms","applicationId":null,"accountId":1,"occurredAt":null,"data":{}}';
  expect(read(text)).toEqual({
    event: { event: 'smsdlr', resource: 'sms', accountId: '1', data: '{}' },
  });
});

// PHP encodes an empty array and an empty object alike.
it('reads an empty array as empty data', () => {
  const text = '{"event":"smsdlr","resource":"sms","accountId":1,"data": [ ]}';
  expect(read(text)).toMatchObject({ event: { data: '{}' } });
});

it('reports every fault', () => {
  expect(faultsIn('{}')).toEqual([
    'event required',
    'resource required',
    'applicationId required',
    'data required',
  ]);
  expect(
    faultsIn(
      '{"id":7,"event":"sms","resource":"all","applicationId":"x","accountId":-1,"occurredAt":"today","data":[1]}',
    ),
  ).toEqual([
    'event choice',
    'resource choice',
    'applicationId format',
    'accountId format',
    'id type',
    'occurredAt format',
    'data type',
  ]);
});

it('refuses the kinds and the resource of notices, and says why', () => {
  const text = '{"event":"webhookFailing","resource":"all","accountId":1,"data":{}}';
  expect(faultsIn(text)).toEqual(['event not_allowed', 'resource choice']);
  const refused = read(text);
  expect('faults' in refused && refused.faults[0]?.message).toBe(
    'event must not be webhookFailing, webhookDisabled, webhookRecovered: only the service reports ' +
      'notices about subscriptions.',
  );
});

it('limits ids to the safe integers of JavaScript', () => {
  const body = (id: number) => `{"event":"smsdlr","resource":"sms","data":{},"accountId":${id}}`;
  expect(faultsIn(body(2 ** 53))).toEqual(['accountId format']);
  expect(faultsIn(body(2 ** 53 - 1))).toEqual([]);
});

it('points to the faulty event of a batch', () => {
  expect(faultsIn('{"event":1,"resource":"sms","accountId":1,"data":{}}', '/events/3')).toEqual([
    '/events/3/event type',
  ]);
  expect(faultsIn('5', '/events/4')).toEqual(['/events/4 type']);
  expect(refusalFault('unknown_account', '/events/3')).toMatchObject({
    field: '/events/3/accountId',
  });
});

it.each([
  ['an empty key', '""', 'id length'],
  ['a key of 256 characters', JSON.stringify('é'.repeat(256)), 'id length'],
  ['a key with U+0000', '"a\\u0000"', 'id format'],
  ['a key with a lone surrogate', '"\\ud800"', 'id format'],
])('refuses %s', (_, id, fault) => {
  expect(
    faultsIn(`{"id":${id},"event":"smsdlr","resource":"sms","accountId":1,"data":{}}`),
  ).toEqual([fault]);
});

it.each([
  '2026-02-30T12:00:00Z',
  '2026-11-21',
  '2026-11-21T25:00:00Z',
  '2026-11-21T12:00:00',
  '2026-11-21T12:00:60Z',
  '2026-11-21T12:59:60Z',
  '0000-01-01T00:00:00Z',
  '',
])('refuses %s as a time', (time) => {
  expect(
    faultsIn(`{"event":"smsdlr","resource":"sms","accountId":1,"data":{},"occurredAt":"${time}"}`),
  ).toEqual(['occurredAt format']);
});

it('says that a time may have an offset', () => {
  const body =
    '{"event":"smsdlr","resource":"sms","accountId":1,"data":{},"occurredAt":"2026-11-21T12:00"}';
  expect(read(body)).toMatchObject({
    faults: [{ message: expect.stringContaining('with Z or an offset') as string }],
  });
});

it.each([
  ['2016-12-31T23:59:60Z', '2017-01-01T00:00:00.000Z'],
  ['1990-12-31T15:59:60.5-08:00', '1991-01-01T00:00:00.500Z'],
  ['2026-01-01t00:00:00.1239567890z', '2026-01-01T00:00:00.123Z'],
])('reads the time %s as %s', (time, iso) => {
  const body = `{"event":"smsdlr","resource":"sms","accountId":1,"data":{},"occurredAt":"${time}"}`;
  expect(read(body)).toMatchObject({ event: { occurredAt: new Date(iso) } });
});

it('refuses data of more than 128 KiB of text', () => {
  const body = (length: number) =>
    `{"event":"smsdlr","resource":"sms","accountId":1,"data":{"x":"${'é'.repeat(length)}"}}`;
  expect(faultsIn(body(65_532))).toEqual([]);
  expect(faultsIn(body(65_533))).toEqual(['data length']);
});

it('ignores members of the prototype', () => {
  const text = '{"__proto__":{"event":"smsdlr"},"resource":"sms","accountId":1,"data":{}}';
  expect(faultsIn(text)).toEqual(['event required']);
});

it('takes the last of repeated members, however their names are written', () => {
  const text =
    '{"event":[],"data":1,"\\u0065vent":"smsdlr","resource":"sms","accountId":{},"accountId":1,' +
    '"d\\u0061ta":{"a":1,"a":2}}';
  expect(read(text)).toEqual({
    event: { event: 'smsdlr', resource: 'sms', accountId: '1', data: '{"a":1,"a":2}' },
  });
});

it('names at most 20 unknown members, and none of the prototype', () => {
  const members = Array.from({ length: 5_000 }, (_, index) => `"member${index}":{"x":[]}`);
  const text = `{"__proto__":1,${members.join()},"toString":2,"event":"smsdlr","resource":"sms","accountId":1,"data":{}}`;
  expect(read(text)).toHaveProperty('event.event', 'smsdlr');
  const strict = read(text, '', true);
  const fields = 'faults' in strict ? strict.faults.map(({ field }) => field) : [];
  expect(fields).toHaveLength(20);
  expect(fields.slice(0, 2)).toEqual(['__proto__', 'member0']);
});

it.each([
  ['id', '"xxx"', 'length'],
  ['occurredAt', '"9999"', 'format'],
  ['applicationId', '9999', 'format'],
  ['applicationId', '"9999"', 'format'],
  ['event', '"xxxx"', 'choice'],
  ['event', '[[[[]]]]', 'type'],
  ['resource', '{"a":{}}', 'type'],
  ['data', '{"a":"xxxxxxx"}', 'length'],
])('refuses %s like %s, however long it is', (name, short, code) => {
  const long = short.replace(/([x9])+|(?<=\[)(?=\])|(?<=\{)(?=\})/, (found) =>
    (found || ' ').repeat(300_000),
  );
  const others = { event: '"smsdlr"', resource: '"sms"', accountId: '1', data: '{}', [name]: long };
  const members = Object.entries(others).map(([member, text]) => `"${member}":${text}`);
  expect(faultsIn(`{${members.join()}}`)).toEqual([`${name} ${code}`]);
});
