import { OfApplication } from '../../app/names.js';
import { Badge } from '../../components/notice.js';
import type { Column } from '../../components/table.js';
import { useConditions } from '../subscription/use-conditions.js';
import type { Subscription } from './subscriptions.queries.js';

/** The columns of lists of subscriptions. */
export const COLUMNS: readonly Column<Subscription>[] = [
  {
    name: 'Subscription',
    width: 'minmax(0, 2fr)',
    cell: ({ name, targetUrl, event, resource }) => (
      <>
        <bdi className="line strong">{name ?? targetUrl}</bdi>
        <span className="line quiet">
          {event} · {resource}
          {name !== undefined && (
            <>
              {' '}
              · <bdi>{targetUrl}</bdi>
            </>
          )}
        </span>
      </>
    ),
  },
  {
    name: 'State',
    width: 'minmax(0, 1fr)',
    cell: (subscription) => (
      <>
        <span className="line">
          <StateBadge subscription={subscription} />
        </span>
        <span className="line quiet">
          <OfApplication id={subscription.applicationId} none="whole account" />
        </span>
      </>
    ),
  },
];

/** The most important thing about a subscription, in a word. */
function StateBadge({ subscription }: { subscription: Subscription }) {
  const [{ tone, word }] = useConditions(subscription);
  return <Badge tone={tone}>{word}</Badge>;
}
