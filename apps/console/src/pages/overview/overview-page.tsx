import './overview.css';
import { useQuery } from '@tanstack/react-query';
import { useAccountShown } from '../../app/account.js';
import { Problem } from '../../app/problem.js';
import { useMayChange } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { StartedReplays } from '../deliveries/send-matching.js';
import { Attention } from './attention.js';
import { FirstSteps } from './first-steps.js';
import { missedQuery, MissedSection } from './missed-section.js';
import { SendTestEvent } from './send-test-event.js';
import { RangePicker, Statistics, useRange } from './statistics.js';
import { hasDeliveriesQuery, statisticsQuery } from './statistics.queries.js';
import { allSubscriptionsQuery, useLiveSubscriptions } from './subscriptions.queries.js';
import { WaitingNote, waitingQuery } from './waiting-note.js';

/** The state of the account's notifications. Of other accounts, the platform sees the statistics. */
export default function OverviewPage() {
  const { accountId, isOwn } = useAccountShown();
  const mayChange = useMayChange();
  return (
    <Page
      title="Overview"
      actions={
        <>
          <RangePicker />
          {isOwn && mayChange && <SendTestEvent />}
        </>
      }
    >
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
  const mayChange = useMayChange();
  const statistics = useQuery(statisticsQuery(range));
  const hasDeliveries = useQuery(hasDeliveriesQuery);
  const subscriptions = useQuery(allSubscriptionsQuery);
  const waiting = useQuery(waitingQuery);
  const missed = useQuery(missedQuery(range));
  useLiveSubscriptions();

  const error = [statistics, hasDeliveries, subscriptions].find((query) => query.error)?.error;
  // Content that loads later is below, so that nothing moves.
  const isReady = statistics.data !== undefined && hasDeliveries.data !== undefined;
  return (
    <>
      <Problem error={error} />
      {!isReady && !error && <Skeleton />}
      {isReady && (
        <>
          <StartedReplays />
          {!hasDeliveries.data && mayChange && <FirstSteps />}
          <Statistics history={statistics.data} />
          {subscriptions.data && !waiting.isPending && (
            <>
              <Attention subscriptions={subscriptions.data} />
              <WaitingNote waiting={waiting.data} />
              {subscriptions.data.length > 0 && <MissedSection missed={missed.data} />}
            </>
          )}
        </>
      )}
    </>
  );
}

function Skeleton() {
  return (
    <div className="skeleton-figures" aria-hidden>
      <div className="card" />
      <div className="card" />
    </div>
  );
}
