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

/** Whether a delivery has ended, so that it can be sent again. */
export const isFinished = (state: DeliveryState): boolean =>
  state !== 'pending' && state !== 'parked';
