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

/** Whether a delivery has ended. */
export const isFinished = (state: DeliveryState): boolean =>
  state !== 'pending' && state !== 'parked';

/** Whether a delivery can be sent now: no attempt is under way. */
export const canBeSent = ({
  state,
  nextAttemptAt,
}: Pick<Schemas['Delivery'], 'state' | 'nextAttemptAt'>): boolean =>
  state !== 'pending' || nextAttemptAt !== undefined;
