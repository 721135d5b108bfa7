import type { Schemas } from '../app/api.js';

/** A text, and the time that follows it. */
export interface Moment {
  text: string;
  at?: string;
  /** Without a time, in tables: the end of “Next try …”. */
  brief?: string;
}

/** Why notifications wait, and until when: the same sentences for a subscription and for each of its deliveries. */
export interface Block {
  reason: string;
  next: Moment;
}

type Health = NonNullable<Schemas['Webhook']['health']>;

export const PAUSED: Block = {
  reason: 'The subscription is paused.',
  next: { text: 'Sending resumes, oldest first, when you resume it.', brief: 'when resumed' },
};

/**
 * The circuit is open.
 * @param until when one notification is sent as a probe; undefined if that is due
 */
export const openBlock = (until: string | undefined): Block => ({
  reason: 'Your server keeps failing, so notifications wait until it works again.',
  next:
    until === undefined
      ? { text: 'The next due notification is sent as a probe.', brief: 'now' }
      : { text: 'Next try', at: until },
});

/** A target fails, and its circuit is closed. */
export const RETRIED: Moment = {
  text: 'Each notification is retried on its schedule.',
  brief: 'on schedule',
};

/** The target asked to wait. */
export const heldUntil = (until: string): Block => ({
  reason: 'Your server asked for a break (429 or 503 with Retry-After).',
  next: { text: 'Sending resumes', at: until },
});

/** Our network fails: contract, section 11. */
export const OUR_NETWORK: Block = {
  reason: 'Our network reaches no target at the moment.',
  next: { text: 'Sending resumes as soon as that has ended, and no attempt is used up.' },
};

/** A limit of the subscription delays what is due. */
export const PACED_BY: Record<NonNullable<Health['pacedBy']>, Block> = {
  maxPerSecond: {
    reason: 'More notifications are due than the subscription allows per second.',
    next: { text: 'The others follow at its pace.', brief: 'at its pace' },
  },
  maxConcurrent: {
    reason: 'As many calls are in flight as the subscription allows at once.',
    next: { text: 'The next notification is sent when one of them ends.', brief: 'at its pace' },
  },
  ordered: {
    reason: 'Notifications are sent in order, and wait for the one before them.',
    next: {
      text: 'The next one is sent when that one has succeeded or has no retries left.',
      brief: 'in order',
    },
  },
};

/** A text for the customer in the words for an operator, who does not own the server. */
export const toldToOperator = (text: string): string =>
  text
    .replaceAll('Your s', 'The s')
    .replaceAll('your s', 'the s')
    .replaceAll('you resume it', 'it is resumed')
    .replaceAll('you send it again', 'it is sent again')
    .replaceAll('you send them again', 'they are sent again');
