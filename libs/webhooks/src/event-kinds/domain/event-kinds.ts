import { refuse } from '#libs/kernel';

/** The event kinds that the platform reports (specification, section 6). */
export const REPORTED_KINDS = ['smsdlr', 'cdrCreated', 'cdrRated'] as const;
export type ReportedKind = (typeof REPORTED_KINDS)[number];

/** The event kinds of notices about the account's own subscriptions (contract, section 8). */
export const NOTICE_KINDS = ['webhookFailing', 'webhookDisabled', 'webhookRecovered'] as const;
export type NoticeKind = (typeof NOTICE_KINDS)[number];

/** A subscription is disabled after failing for so many days without a success; `webhookFailing` announces it. */
export const FAILING_DAYS = 5;
export const FAILING_MS = FAILING_DAYS * 24 * 3_600_000;

/** The event kinds that a subscription can be for. */
export const EVENT_KINDS = [...REPORTED_KINDS, ...NOTICE_KINDS] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** What an event of the platform can be about. A subscription may also name {@link ALL_RESOURCES}. */
export const RESOURCES = ['call', 'sms', 'transcription'] as const;
export type Resource = (typeof RESOURCES)[number];

/**
 * A subscription to this covers every resource, including those of later versions. It is also the resource
 * of every notice.
 */
export const ALL_RESOURCES = 'all';
export type EventResource = Resource | typeof ALL_RESOURCES;

export function isNoticeKind(kind: EventKind): kind is NoticeKind {
  return (NOTICE_KINDS as readonly EventKind[]).includes(kind);
}

export function isResource(text: string): text is Resource {
  return (RESOURCES as readonly string[]).includes(text);
}

/**
 * Refuses a subscription to a notice that is not to all resources: it would never get one.
 * @param blamed the field that does not go with the other
 * @throws ValidationError
 */
export function refuseNarrowNotice(
  { event, resource }: { event: EventKind; resource: string },
  blamed: 'event' | 'resource',
): void {
  if (!isNoticeKind(event) || resource === ALL_RESOURCES) return;
  const says = `conflicts: the resource of a subscription to ${event} must be ${ALL_RESOURCES}`;
  refuse(blamed, { code: 'conflict', says });
}

/** The value of `accounts` of a subscription that gets notices about the subscriptions of every account. */
export const ALL_ACCOUNTS = 'all';

/** No list that somebody means is longer, whatever it repeats, in characters. */
const MAX_RESOURCES = 10_000;

/**
 * The resources of a subscription as they are stored and shown: `all`, or the items in the given
 * order, once each, with commas and no blanks. Undefined if the text is not such a list.
 */
export function parseResources(text: string): string | undefined {
  if (text.length > MAX_RESOURCES) return undefined;
  const items = text.split(',').map((item) => item.trim());
  if (!items.every((item) => item === ALL_RESOURCES || isResource(item))) return undefined;
  return items.includes(ALL_RESOURCES) ? ALL_RESOURCES : [...new Set(items)].join(',');
}
