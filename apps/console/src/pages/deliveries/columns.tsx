import { Badge } from '../../components/notice.js';
import type { Column } from '../../components/table.js';
import { RelativeTime } from '../../components/time.js';
import type { Delivery } from './deliveries.queries.js';
import { TONES } from './states.js';

/** The columns of the list of deliveries. */
export const COLUMNS: readonly Column<Delivery>[] = [
  {
    name: 'Event',
    width: 'minmax(0, 2fr)',
    cell: ({ event, resource, test, targetUrl }) => (
      <>
        <span className="strong">
          {event} · {resource}
          {test && ' · test'}
        </span>
        <bdi className="target quiet">{targetUrl}</bdi>
      </>
    ),
  },
  {
    name: 'State',
    width: 'minmax(0, 1fr)',
    cell: ({ state, attempts, createdAt, nextAttemptAt }) => (
      <span className="state">
        <Badge tone={TONES[state]}>{state}</Badge>
        <span className="quiet">
          <RelativeTime at={createdAt} /> · {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
          {state === 'pending' && nextAttemptAt !== undefined && (
            <>
              {' · next '}
              <RelativeTime at={nextAttemptAt} />
            </>
          )}
        </span>
      </span>
    ),
  },
];
