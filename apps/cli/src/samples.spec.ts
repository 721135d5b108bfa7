import { describe, expect, it } from 'vitest';
import { sampleEvents } from './samples.js';

const NOW = new Date('2017-11-14T11:43:55.145Z');

const RECORD_FIELDS = [
  'accountId',
  'applicationId',
  'applicationName',
  'applicationType',
  'callId',
  'direction',
  'duration',
  'endTime',
  'from',
  'initiationTime',
  'label',
  'messageCount',
  'network',
  'parentCallId',
  'parentSessionId',
  'reason',
  'sessionId',
  'startTime',
  'startUrl',
  'status',
  'to',
];

function one(...[request]: [Partial<Parameters<typeof sampleEvents>[0]>]) {
  const [sample] = sampleEvents({ events: ['cdrCreated'], count: 1, ...request }, NOW);
  return sample!;
}

const fieldsOf = (data: object) => Object.keys(data).sort();

describe('sampleEvents', () => {
  it('gives smsdlr the fields of real delivery reports', () => {
    const { data } = one({ events: ['smsdlr'] });
    const fields =
      'accountId applicationId callId dlvrd doneDate err eventTimeStamp from id sessionId stat sub submitDate to';
    expect(fieldsOf(data)).toEqual(fields.split(' '));
    expect(data).toMatchObject({
      stat: 'Delivered',
      err: '000',
      submitDate: '1711141143',
      doneDate: '1711141143',
      eventTimeStamp: 1510659835145,
    });
  });

  it('gives cdrCreated the fields of real call records, with the duration in milliseconds', () => {
    const { data } = one({ events: ['cdrCreated'] });
    expect(fieldsOf(data)).toEqual([...RECORD_FIELDS, 'eventTimeStamp'].sort());
    expect(data).toMatchObject({
      parentCallId: 'none',
      applicationType: 'tropo-web',
      startTime: '2017-11-14T11:43:21.887+0000',
      endTime: '2017-11-14T11:43:55.145+0000',
      duration: 33258,
      eventTimeStamp: 1510659835145,
    });
  });

  it('gives cdrRated the price instead of the time of the event, with the duration in seconds', () => {
    const { data } = one({ events: ['cdrRated'] });
    const price = ['cost', 'created', 'previousCost', 'ratingVersion', 'roundedDuration'];
    expect(fieldsOf(data)).toEqual([...RECORD_FIELDS, ...price].sort());
    expect(data).toMatchObject({
      duration: 34,
      roundedDuration: 60,
      created: '2017-11-14T11:43:55.145+0000',
    });
  });

  it('names the application and the account in the event and in its data', () => {
    const sample = one({ applicationId: '12', accountId: '7' });
    expect(sample).toMatchObject({ applicationId: '12', accountId: '7' });
    expect(sample.data).toMatchObject({ applicationId: '12', accountId: '7' });
  });

  it('omits an id that was not given, because the service finds it', () => {
    const sample = one({ applicationId: '12' });
    const sent: unknown = JSON.parse(JSON.stringify(sample));
    expect(sent).not.toHaveProperty('accountId');
    expect(sent).not.toHaveProperty('id');
    expect(sample.data['accountId']).toMatch(/^\d+$/);
  });

  it('defaults to messages for smsdlr and to calls for records', () => {
    const usual = sampleEvents({ events: ['smsdlr', 'cdrCreated', 'cdrRated'], count: 1 }, NOW);
    expect(usual.map(({ event, resource }) => `${event} ${resource}`)).toEqual([
      'smsdlr sms',
      'cdrCreated call',
      'cdrRated call',
    ]);
    const message = one({ resource: 'sms' });
    expect(message.resource).toBe('sms');
    expect(message.data).toMatchObject({ network: 'SMS', messageCount: 1, duration: 0 });
  });

  it('puts the record and the rating of a set on the same call, and other sets on other calls', () => {
    const samples = sampleEvents({ events: ['cdrCreated', 'cdrRated'], count: 2 }, NOW);
    const [created, rated, next] = samples.map(({ data }) => data['callId']);
    expect(samples).toHaveLength(4);
    expect(rated).toBe(created);
    expect(next).not.toBe(created);
  });

  it("numbers the producer's ids only if there are several events of a kind", () => {
    expect(one({ id: 'cdr-8c1f' }).id).toBe('cdr-8c1f');
    const many = sampleEvents({ events: ['cdrCreated', 'cdrRated'], count: 2, id: 'k' }, NOW);
    expect(many.map(({ id }) => id)).toEqual(['k-1', 'k-1', 'k-2', 'k-2']);
  });
});
