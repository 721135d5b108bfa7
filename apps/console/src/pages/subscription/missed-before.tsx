import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Notice } from '../../components/notice.js';
import { missedText, readMissed } from '../events/missed.queries.js';

const LIMIT = 20;

/** A notice if earlier events can be sent to a new subscription. */
export function MissedBefore({ id }: { id: string }) {
  const { data } = useQuery({
    queryKey: ['events', 'missed before', id],
    queryFn: ({ signal }) => readMissed({ missedBy: id }, LIMIT, signal),
  });
  if (!data || data.count === 0) return null;
  const { count, isMore, path } = data;
  const isOne = count === 1 && !isMore;
  return (
    <Notice tone="waiting">
      <p>
        {missedText(count, isMore, 'earlier event')} {isOne ? 'matches' : 'match'} it.{' '}
        <Link href={path}>Look at {isOne ? 'it and send it' : 'them and send them'}</Link>
      </p>
    </Notice>
  );
}
