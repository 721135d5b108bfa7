import './overview.css';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { useAccountShown } from '../../app/account.js';
import { namedApplicationsQuery } from '../../app/names.queries.js';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { Attention } from './attention.js';
import { missedQuery, MissedSection } from './missed-section.js';
import { RangePicker, Statistics, useRange } from './statistics.js';
import { statisticsQuery } from './statistics.queries.js';
import { allSubscriptionsQuery, useLiveSubscriptions } from './subscriptions.queries.js';
import { WaitingNote, waitingQuery } from './waiting-note.js';

/** Whether all is well with the account's notifications; of others, the platform sees how their attempts went. */
export default function OverviewPage() {
  const { accountId, isOwn } = useAccountShown();
  return (
    <Page title="Overview" actions={<RangePicker />}>
      {isOwn ? <OwnOverview /> : <AccountStatistics accountId={accountId} />}
    </Page>
  );
}

function AccountStatistics({ accountId }: { accountId: string | undefined }) {
  const { data, error } = useQuery(statisticsQuery(useRange(), accountId));
  return <Statistics history={data} error={error} />;
}

function OwnOverview() {
  const range = useRange();
  const subscriptions = useQuery(allSubscriptionsQuery);
  const statistics = useQuery(statisticsQuery(range));
  const waiting = useQuery(waitingQuery);
  const missed = useQuery(missedQuery(range));
  useLiveSubscriptions();

  const error = subscriptions.error ?? statistics.error;
  const isNew = subscriptions.data?.length === 0 && statistics.data?.attempts === 0;
  return (
    <>
      <Problem error={error} />
      {isNew && <FirstSteps />}
      {/* Together, so that nothing moves. */}
      {!isNew &&
        subscriptions.data &&
        statistics.data &&
        !missed.isPending &&
        !waiting.isPending && (
          <>
            <Statistics history={statistics.data} />
            <Attention subscriptions={subscriptions.data} />
            <WaitingNote waiting={waiting.data} />
            {subscriptions.data.length > 0 && <MissedSection missed={missed.data} />}
          </>
        )}
    </>
  );
}

/** What a new account does. */
function FirstSteps() {
  const { data: applications } = useQuery(namedApplicationsQuery);
  return (
    <EmptyState title="There are no subscriptions yet">
      <p>
        A subscription says which events are posted to which address.{' '}
        <Link href="/subscriptions/new">Create a subscription</Link> for the whole account, and send
        a test.
      </p>
      {applications?.length === 0 && (
        <p>
          To have subscriptions for some of your calls and messages only,{' '}
          <Link href="/applications/new">create an application</Link> first.
        </p>
      )}
      {applications && applications.length > 0 && (
        <p>
          To be told of one application only, open it in{' '}
          <Link href="/applications">your applications</Link>, and create the subscription there.
        </p>
      )}
    </EmptyState>
  );
}
