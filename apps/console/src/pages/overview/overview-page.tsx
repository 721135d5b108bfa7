import './overview.css';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense } from 'react';
import { useAccountShown } from '../../app/account.js';
import type { Schemas } from '../../app/api.js';
import { Problem } from '../../app/problem.js';
import { useIsNarrow } from '../../app/media.js';
import { FRESH_MS, type Subscription, subscriptionsOf } from '../../app/names.queries.js';
import { useMayChange } from '../../app/session.js';
import { Page } from '../../components/page.js';
import { StartedReplays } from '../deliveries/send-matching.js';
import { Attention } from './attention.js';
import { FirstSteps } from './first-steps.js';
import { SendTestEvent } from './send-test-event.js';
import { RangePicker, Statistics, useRange } from './statistics.js';
import { hasDeliveriesQuery, statisticsQuery } from './statistics.queries.js';
import { WaitingNote, waitingQuery } from './waiting-note.js';

// Below the first screen.
const MissedSection = lazy(() => import('./missed-section.js'));

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
  const isNarrow = useIsNarrow();
  const statistics = useQuery(statisticsQuery(range));
  const subscriptions = useQuery({ ...subscriptionsOf(), staleTime: FRESH_MS });
  // The first screen needs these two requests; what follows is below, so that nothing moves.
  const isReady = statistics.data !== undefined && subscriptions.data !== undefined;
  const isInUse = isReady && isUsed(statistics.data, subscriptions.data);
  // Asked at once, because a new account has to wait for it.
  const hasDeliveries = useQuery(hasDeliveriesQuery);
  const waiting = useQuery({ ...waitingQuery, enabled: isReady });

  const error = [statistics, hasDeliveries, subscriptions].find((query) => query.error)?.error;
  const isKnown = isInUse || hasDeliveries.data !== undefined;
  return (
    <>
      <Problem error={error} />
      {!isKnown && !error && <Skeleton />}
      {isReady && isKnown && (
        <>
          <StartedReplays />
          {!isInUse && !hasDeliveries.data && mayChange && <FirstSteps />}
          {!isNarrow && <Statistics history={statistics.data} />}
          <Attention
            subscriptions={subscriptions.data}
            waiting={statistics.data.waiting.bySubscription}
          />
          {/* On a phone, what needs attention comes first. */}
          {isNarrow && <Statistics history={statistics.data} />}
          <WaitingNote waiting={waiting.data} />
          <Suspense>{subscriptions.data.length > 0 && <MissedSection range={range} />}</Suspense>
        </>
      )}
    </>
  );
}

/** Whether there are deliveries, as far as these say. */
function isUsed(
  { attempts, waiting }: Schemas['AccountStatistics'],
  subscriptions: readonly Subscription[],
): boolean {
  return (
    attempts > 0 ||
    waiting.deliveries > 0 ||
    subscriptions.some(({ activity }) => activity?.lastDeliveryAt !== undefined)
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
