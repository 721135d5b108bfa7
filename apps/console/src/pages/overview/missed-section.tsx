import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Notice } from '../../components/notice.js';
import { LocalTime } from '../../components/time.js';
import { missedText, readMissed } from '../events/missed.queries.js';
import { bucketsOf, type Range } from './ranges.js';

const LIMIT = 50;
const READ_AGAIN_MS = 60_000;

/** The events of a time range that were sent to no subscription. */
const missedQuery = (range: Range) =>
  queryOptions({
    queryKey: ['events', 'missed', range],
    refetchInterval: READ_AGAIN_MS,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }) => {
      const { since } = bucketsOf(range, Date.now());
      return { ...(await readMissed({ unmatched: 'true', since }, LIMIT, signal)), since };
    },
  });

/** A notice if there are events that were sent to no subscription. */
export default function MissedSection({ range }: { range: Range }) {
  const { data: missed } = useQuery(missedQuery(range));
  if (!missed || missed.count === 0) return null;
  const { count, isMore, since, path } = missed;
  const isOne = count === 1 && !isMore;
  return (
    <Notice tone="waiting">
      <p>
        <Link href={path}>{missedText(count, isMore)}</Link> {isOne ? 'has' : 'have'} reached no
        subscription since <LocalTime at={since} />, because none matched when{' '}
        {isOne ? 'it was' : 'they were'} accepted.
      </p>
    </Notice>
  );
}
