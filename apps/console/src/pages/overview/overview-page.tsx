import './overview.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { FailingSection } from './failing-section.js';
import { StatisticsSection, useRange } from './statistics.js';
import { statisticsQuery } from './statistics.queries.js';
import {
  allSubscriptionsQuery,
  hasApplicationQuery,
  useLiveSubscriptions,
} from './subscriptions.queries.js';

/** Whether all is well with the account's notifications. */
export default function OverviewPage() {
  const range = useRange();
  const subscriptions = useQuery(allSubscriptionsQuery);
  const statistics = useQuery(statisticsQuery(range));
  useLiveSubscriptions();

  const error = subscriptions.error ?? statistics.error;
  const isNew = subscriptions.data?.length === 0 && statistics.data?.attempts === 0;
  return (
    <Page title="Overview">
      <Problem error={error} />
      {isNew && <FirstSteps />}
      {/* Together, so that nothing moves. */}
      {!isNew && subscriptions.data && statistics.data && (
        <>
          <FailingSection subscriptions={subscriptions.data} />
          <StatisticsSection history={statistics.data} />
        </>
      )}
    </Page>
  );
}

/** What a new account does. */
function FirstSteps() {
  const { data: hasApplication } = useQuery(hasApplicationQuery);
  return (
    <EmptyState title="Nobody is told of anything yet.">
      <p>
        A subscription says which events are posted to which address.{' '}
        <Link href="/subscriptions/new">Create a subscription</Link> for the whole account, and send
        a test.
      </p>
      {hasApplication === false && (
        <p>
          To have subscriptions for some of your calls and messages only,{' '}
          <Link href="/applications/new">create an application</Link> first.
        </p>
      )}
      {hasApplication && (
        <p>
          To be told of one application only, open it in{' '}
          <Link href="/applications">your applications</Link>, and create the subscription there.
        </p>
      )}
    </EmptyState>
  );
}
