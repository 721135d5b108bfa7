import {
  type EventResource,
  type ReportedKind,
  type Resource,
  sampleCall,
  type SampleData,
  sampleData,
  usualResource,
} from '#libs/webhooks/domain';

/** The body of `POST /v1/events`. */
interface SampleEvent {
  id: string | undefined;
  event: ReportedKind;
  resource: EventResource;
  applicationId: string | undefined;
  accountId: string | undefined;
  data: SampleData;
}

/** The requested samples. */
interface SampleRequest {
  events: readonly ReportedKind[];
  /** By default, the usual resource of each event kind. */
  resource?: Resource | undefined;
  applicationId?: string | undefined;
  accountId?: string | undefined;
  /** The number of events of each kind. */
  count: number;
  /** The producer's id; numbered if there are several events of a kind. */
  id?: string | undefined;
}

/** Used if no account is given, because a switch always reports both. */
const SAMPLE_ACCOUNT = '83346';

/**
 * Sample events with the fields that real platforms send. One event of each kind forms a set about the same call, like
 * a call record and its rating.
 */
export function sampleEvents(request: SampleRequest, now: Date): SampleEvent[] {
  const { events, applicationId, accountId, count, id } = request;
  return Array.from({ length: count }, (_, index) => {
    const call = sampleCall();
    return events.map((event) => {
      const resource = request.resource ?? usualResource(event);
      const subject = { ...call, applicationId, accountId: accountId ?? SAMPLE_ACCOUNT, resource };
      return {
        id: id !== undefined && count > 1 ? `${id}-${index + 1}` : id,
        event,
        resource,
        applicationId,
        accountId,
        data: sampleData(event, subject, now),
      };
    });
  }).flat();
}
