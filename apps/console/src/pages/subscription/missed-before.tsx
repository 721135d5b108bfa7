import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Notice } from '../../components/notice.js';
import { missedText, readMissed } from '../events/missed.queries.js';
import { canBeSent } from '../event/why-not.js';
import type { Subscription } from './subscription.queries.js';

const LIMIT = 20;
/** The API sends no older events to a new subscription. */
const OLDEST_MS = 30 * 86_400_000;

/** A notice if earlier events without a subscription can be sent to a new one. */
export function MissedBefore({ subscription }: { subscription: Subscription }) {
  const { id, event, resource, applicationId, createdAt } = subscription;
  const isOfOne = resource !== 'all' && !resource.includes(',');
  const filters = {
    event,
    ...(isOfOne && { resource }),
    ...(applicationId !== undefined && { applicationId }),
    since: new Date(Date.parse(createdAt) - OLDEST_MS).toISOString(),
  };
  const { data } = useQuery({
    queryKey: ['events', 'missed before', id],
    queryFn: ({ signal }) => readMissed(filters, LIMIT, signal),
  });
  const count = data?.events.filter((one) => canBeSent(one, subscription)).length ?? 0;
  if (!data || count === 0) return null;
  const isOne = count === 1 && !data.isMore;
  return (
    <Notice tone="waiting">
      <p>
        {missedText(count, data.isMore, 'earlier event')} reached no subscription.{' '}
        <Link href={data.path}>Look at {isOne ? 'it and send it' : 'them and send them'}</Link>
      </p>
    </Notice>
  );
}
