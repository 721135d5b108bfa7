import type { Schemas } from '../app/api.js';
import type { Tone } from '../components/notice.js';

export type DeliveryState = Schemas['DeliveryState'];

/** The colour of each state, on every page: amber until a delivery ends, and red only if it was lost. */
export const TONES: Record<DeliveryState, Tone> = {
  pending: 'waiting',
  parked: 'waiting',
  succeeded: 'good',
  exhausted: 'bad',
  cancelled: 'neutral',
};

/** The words of each state, for filters: see {@link stateWord}. */
export const STATE_WORDS: Record<DeliveryState, string> = {
  pending: 'waiting, sending or retrying',
  parked: 'held or paused',
  succeeded: 'delivered',
  exhausted: 'failed',
  cancelled: 'cancelled',
};

/** The state of a delivery, in a word for users. The API's own word is in `state`. */
export function stateWord({
  state,
  attempts,
  nextAttemptAt,
}: Pick<Schemas['Delivery'], 'state' | 'attempts' | 'nextAttemptAt'>): string {
  switch (state) {
    case 'pending':
      if (attempts > 0) return 'retrying';
      return nextAttemptAt === undefined ? 'sending' : 'waiting';
    case 'parked':
      return nextAttemptAt === undefined ? 'paused' : 'held';
    case 'succeeded':
    case 'exhausted':
    case 'cancelled':
      return STATE_WORDS[state];
  }
}

/** Whether a delivery has ended. */
export const isFinished = (state: DeliveryState): boolean =>
  state !== 'pending' && state !== 'parked';

/** Whether a delivery can be sent now: no attempt is under way. */
export const canBeSent = ({
  state,
  nextAttemptAt,
}: Pick<Schemas['Delivery'], 'state' | 'nextAttemptAt'>): boolean =>
  state !== 'pending' || nextAttemptAt !== undefined;
