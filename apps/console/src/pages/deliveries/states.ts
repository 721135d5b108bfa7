import type { Schemas } from '../../app/api.js';
import type { Tone } from '../../components/notice.js';

export type DeliveryState = Schemas['DeliveryState'];

/** The colour of each state. */
export const TONES: Record<DeliveryState, Tone> = {
  pending: 'waiting',
  parked: 'waiting',
  succeeded: 'good',
  exhausted: 'bad',
  cancelled: 'neutral',
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
      return 'delivered';
    case 'exhausted':
      return 'failed';
    case 'cancelled':
      return 'cancelled';
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
