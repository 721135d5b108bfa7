import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useMayChange } from '../../app/session.js';
import { Notice } from '../../components/notice.js';
import { missedText, readMissed } from '../events/missed.queries.js';
import { offSinceQuery } from './subscription.queries.js';

const LIMIT = 20;

/** A notice if earlier events can be sent to a new subscription. */
export function MissedBefore({ id }: { id: string }) {
  return <Missed id={id} what="earlier event" verbs={['matches it', 'match it']} />;
}

/** A notice if a subscription that the service had disabled missed events until it was enabled here. */
export function MissedWhileOff({ id }: { id: string }) {
  const { data: since } = useQuery(offSinceQuery(id));
  if (!since) return null;
  const verbs = ['came while it was disabled', 'came while it was disabled'] as const;
  return <Missed id={id} since={since} what="event" verbs={verbs} />;
}

function Missed({
  what,
  verbs: [singular, plural],
  ...range
}: {
  id: string;
  since?: string;
  what: string;
  verbs: readonly [singular: string, plural: string];
}) {
  const { id, since } = range;
  const mayChange = useMayChange();
  const { data } = useQuery({
    queryKey: ['events', 'missed before', range],
    queryFn: ({ signal }) =>
      readMissed({ missedBy: id, ...(since !== undefined && { since }) }, LIMIT, signal),
  });
  if (!data || data.count === 0) return null;
  const { count, isMore, path } = data;
  const isOne = count === 1 && !isMore;
  const them = isOne ? 'it' : 'them';
  return (
    <Notice tone="waiting">
      <p>
        {missedText(count, isMore, what)} {isOne ? singular : plural}.{' '}
        <Link href={path}>
          See {them}
          {mayChange && `, and send ${them}`}
        </Link>
      </p>
    </Notice>
  );
}
