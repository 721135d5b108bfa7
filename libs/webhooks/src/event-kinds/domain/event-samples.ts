import { randomBytes } from 'node:crypto';
import { ALL_RESOURCES, type EventKind, type EventResource, FAILING_MS } from './event-kinds.js';

/** The data of an event, as real platforms send it. */
export type SampleData = Record<string, string | number | null>;

/** The subject of a sample event. */
interface SampleSubject {
  callId: string;
  sessionId: string;
  applicationId?: string | null | undefined;
  accountId: string;
  resource: EventResource;
}

/** A subject and its times. Each event kind uses some of them. */
interface SampledCall extends SampleSubject {
  applicationId: string;
  start: Date;
  end: Date;
}

const CALL_MS = 33_258;
/** Used if no application is given, because a switch always sends one. */
const SAMPLE_APPLICATION = '5080983';

/** The usual resource and the data of each event kind. */
const SAMPLES: Record<
  EventKind,
  { resource: EventResource; dataOf: (call: SampledCall) => SampleData }
> = {
  smsdlr: { resource: 'sms', dataOf: deliveryReport },
  cdrCreated: { resource: 'call', dataOf: callRecord },
  cdrRated: { resource: 'call', dataOf: ratedCallRecord },
  webhookFailing: { resource: ALL_RESOURCES, dataOf: failing },
  webhookDisabled: { resource: ALL_RESOURCES, dataOf: disabled },
  webhookRecovered: { resource: ALL_RESOURCES, dataOf: noticed },
};

/** The usual resource of an event kind. */
export function usualResource(event: EventKind): EventResource {
  return SAMPLES[event].resource;
}

/** Sample data of an event kind, with the fields that real platforms send. */
export function sampleData(event: EventKind, subject: SampleSubject, now: Date): SampleData {
  const applicationId = subject.applicationId ?? SAMPLE_APPLICATION;
  const start = new Date(now.getTime() - (subject.resource === 'sms' ? 0 : CALL_MS));
  return SAMPLES[event].dataOf({ ...subject, applicationId, start, end: now });
}

/** The ids of a sample call, which events about the same call share. */
export function sampleCall(): Pick<SampleSubject, 'callId' | 'sessionId'> {
  return { callId: sampleId(), sessionId: sampleId() };
}

/** An id in a switch's format for calls and sessions: 32 hexadecimal digits. */
function sampleId(): string {
  return randomBytes(16).toString('hex');
}

/** A sample of the subscription's event kind, for a test. `data` is JSON text. */
export function sampleOf(webhook: {
  event: EventKind;
  /** Resources with commas, or `all`. */
  resource: string;
  accountId: string;
  applicationId: string | null;
}): { resource: EventResource; data: string } {
  const { event, accountId, applicationId } = webhook;
  const [first = ALL_RESOURCES] = webhook.resource.split(',') as EventResource[];
  const resource = first === ALL_RESOURCES ? usualResource(event) : first;
  const subject = { ...sampleCall(), applicationId, accountId, resource };
  return { resource, data: JSON.stringify(sampleData(event, subject, new Date())) };
}

function deliveryReport({ end, ...subject }: SampledCall): SampleData {
  return {
    callId: subject.callId,
    sessionId: subject.sessionId,
    accountId: subject.accountId,
    applicationId: subject.applicationId,
    from: '14075550100',
    to: '14075550142',
    sub: '001',
    dlvrd: '001',
    stat: 'Delivered',
    err: '000',
    id: sampleId(),
    submitDate: minutes(end),
    doneDate: minutes(end),
    eventTimeStamp: end.getTime(),
  };
}

function callRecord(call: SampledCall): SampleData {
  const { start, end } = call;
  return {
    ...commonToRecords(call),
    duration: end.getTime() - start.getTime(),
    eventTimeStamp: end.getTime(),
  };
}

function ratedCallRecord(call: SampledCall): SampleData {
  const seconds = Math.ceil((call.end.getTime() - call.start.getTime()) / 1_000);
  return {
    ...commonToRecords(call),
    duration: seconds,
    roundedDuration: Math.ceil(seconds / 60) * 60,
    cost: 0.03,
    previousCost: 0,
    ratingVersion: 1,
    created: zoned(call.end),
  };
}

/** As `tell_of_webhook()` writes it (schema/functions.ts). */
function noticed({ accountId, start }: SampledCall): SampleData {
  return {
    webhookId: '4711',
    accountId,
    name: 'Billing',
    event: 'cdrCreated',
    targetUrl: 'https://hooks.example.com/switchhook',
    failingSince: start.toISOString(),
  };
}

function failing(call: SampledCall): SampleData {
  const disablesAt = new Date(call.start.getTime() + FAILING_MS).toISOString();
  return { ...noticed(call), disablesAt };
}

function disabled(call: SampledCall): SampleData {
  return { ...noticed(call), reason: 'failing' };
}

function commonToRecords({ start, end, ...subject }: SampledCall): SampleData {
  const isMessage = subject.resource === 'sms';
  return {
    callId: subject.callId,
    parentCallId: 'none',
    sessionId: subject.sessionId,
    parentSessionId: 'none',
    applicationId: subject.applicationId,
    applicationName: 'Shop',
    applicationType: 'tropo-web',
    accountId: subject.accountId,
    network: isMessage ? 'SMS' : 'PSTN',
    direction: 'out',
    from: isMessage ? '14075550100' : 'tel:+14075550100',
    to: isMessage ? '14075550142' : 'tel:+14075550142',
    startUrl: 'https://shop.example.com/voice',
    initiationTime: zoned(start),
    startTime: zoned(start),
    endTime: zoned(end),
    messageCount: isMessage ? 1 : 0,
    status: 'Success',
    reason: null,
    label: 'order-4711',
  };
}

/** `2017-11-14T11:43:55.145+0000` */
function zoned(time: Date): string {
  return time.toISOString().replace('Z', '+0000');
}

/** `1711141143`, yyMMddHHmm in UTC */
function minutes(time: Date): string {
  return time.toISOString().slice(2, 16).replace(/\D/g, '');
}
