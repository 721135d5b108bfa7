/** The event kinds that a subscription can be for (specification, section 6). */
export const EVENT_KINDS = ['smsdlr', 'cdrCreated', 'cdrRated'] as const;
export type EventKind = (typeof EVENT_KINDS)[number];

/** What an event can be about. A subscription may also name {@link ALL_RESOURCES}. */
export const RESOURCES = ['call', 'sms', 'transcription'] as const;
export type Resource = (typeof RESOURCES)[number];

/** A subscription to this covers every resource, including those of later versions. */
export const ALL_RESOURCES = 'all';

export function isEventKind(text: string): text is EventKind {
  return (EVENT_KINDS as readonly string[]).includes(text);
}

export function isResource(text: string): text is Resource {
  return (RESOURCES as readonly string[]).includes(text);
}

/**
 * The resources of a subscription as they are stored and shown: `all`, or the items in the given
 * order, once each, with commas and no blanks. Undefined if the text is not such a list.
 */
export function parseResources(text: string): string | undefined {
  const items = text.split(',').map((item) => item.trim());
  if (!items.every((item) => item === ALL_RESOURCES || isResource(item))) return undefined;
  return items.includes(ALL_RESOURCES) ? ALL_RESOURCES : [...new Set(items)].join(',');
}
