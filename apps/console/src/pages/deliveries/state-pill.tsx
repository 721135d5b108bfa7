import type { Schemas } from '../../app/api.js';
import { Pill } from '../../components/notice.js';
import { stateWord, TONES } from '../../states/delivery-state.js';

/** The state of a delivery; on hover, the API's name for it. */
export function StatePill({
  delivery,
}: {
  delivery: Pick<Schemas['Delivery'], 'state' | 'attempts' | 'nextAttemptAt'>;
}) {
  const { state } = delivery;
  return (
    <Pill tone={TONES[state]} title={`state: ${state}`}>
      {stateWord(delivery)}
    </Pill>
  );
}
