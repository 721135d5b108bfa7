import {
  type EventKind,
  type Resource,
  SAMPLE_APPLICATION,
  type SampleData,
  sampleData,
  sampleId,
  usualResource,
} from '#libs/webhooks';

/** What a producer sends to `POST /v1/events`. */
export interface SampleEvent {
  id?: string;
  event: EventKind;
  resource: Resource;
  applicationId?: string;
  accountId?: string;
  data: SampleData;
}

/** What the samples are to be about. */
export interface SampleRequest {
  events: readonly EventKind[];
  /** By default what each event is usually about. */
  resource?: Resource;
  applicationId?: string;
  accountId?: string;
  /** How many of each kind. */
  count: number;
  /** The producer's key; numbered where there is more than one of a kind. */
  id?: string;
}

/** Stands in for an account that was not given: a switch always knows both. */
const SAMPLE_ACCOUNT = '83346';

/**
 * Sample events with the field sets that real platforms send. Events of one round are about the
 * same call, as a call record and its rating are.
 */
export function sampleEvents(request: SampleRequest, now: Date): SampleEvent[] {
  const { events, applicationId, accountId, count, id } = request;
  return Array.from({ length: count }, (_, round) => {
    const callId = sampleId();
    const sessionId = sampleId();
    return events.map((event) => {
      const resource = request.resource ?? usualResource(event);
      const ids = {
        callId,
        sessionId,
        applicationId: applicationId ?? SAMPLE_APPLICATION,
        accountId: accountId ?? SAMPLE_ACCOUNT,
      };
      return {
        ...(id !== undefined && { id: count > 1 ? `${id}-${round + 1}` : id }),
        event,
        resource,
        ...(applicationId !== undefined && { applicationId }),
        ...(accountId !== undefined && { accountId }),
        data: sampleData(event, { ...ids, resource }, now),
      };
    });
  }).flat();
}
