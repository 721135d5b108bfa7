import '../deliveries/deliveries.css';
import '../delivery/delivery.css';
import './event.css';
import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ApplicationName } from '../../app/names.js';
import { Unavailable } from '../../app/problem.js';
import { useUser } from '../../app/session.js';
import { useStream } from '../../app/stream.js';
import { CopyButton } from '../../components/copy-button.js';
import { Notice } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import { Table } from '../../components/table.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import { COLUMNS } from '../deliveries/columns.js';
import { allSubscriptionsQuery, useLiveSubscriptions } from '../overview/subscriptions.queries.js';
import { eventDeliveriesQuery, type Report, reportQuery, SHOWN } from './event.queries.js';
import { WhyNotSection } from './why-not-section.js';

/** One event: who was told, who was not and why, and its data. */
export default function EventPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? '';
  const client = useQueryClient();
  const { data, error } = useQuery(reportQuery(id));
  // Its report, and all of its deliveries.
  const queryKey = ['event', id];
  useStream({
    delivery: ({ eventId }) => eventId === id && void client.invalidateQueries({ queryKey }),
    // Its deliveries may change with a subscription, and so may the reasons.
    webhook: () => void client.invalidateQueries({ queryKey }),
  });
  if (data) return <Shown report={data.report} data={data.data} />;
  return (
    <Unavailable title="Event" error={error}>
      It may be older than events are kept, or belong to another account. Go to{' '}
      <Link href="/events">all events</Link>.
    </Unavailable>
  );
}

function Shown({ report, data }: { report: Report; data: string }) {
  const { deliveries } = report;
  const hasMore = deliveries.length >= SHOWN;
  // Those of other accounts are not to be had.
  const isOwn = useUser().userId === report.accountId;
  const subscriptions = useQuery({
    ...allSubscriptionsQuery,
    ...(!isOwn && { queryFn: skipToken }),
  });
  useLiveSubscriptions();
  const isComplete = !isOwn || subscriptions.data !== undefined || subscriptions.isError;
  return (
    <Page title="Event">
      <Notice tone={deliveries.length === 0 ? 'waiting' : 'neutral'}>
        <p>
          {hasMore
            ? `At least ${SHOWN} subscriptions were told of this event.`
            : summaryOf(deliveries.length)}
        </p>
      </Notice>
      <Facts report={report} />
      {deliveries.length > 0 && (
        <section aria-labelledby="deliveries">
          <h2 id="deliveries">Deliveries</h2>
          {hasMore ? (
            <AllDeliveries id={report.id} />
          ) : (
            <Table {...DELIVERIES} rows={deliveries} keyOf={keyOf} />
          )}
        </section>
      )}
      {isComplete && (
        <WhyNotSection report={report} subscriptions={subscriptions.data ?? []} isOwn={isOwn} />
      )}
      <section aria-labelledby="data">
        <h2 id="data">Data</h2>
        <p className="quiet">As it was reported.</p>
        <pre tabIndex={0} aria-label="Data">
          {data}
        </pre>
        <CopyButton label="Copy the data" text={data} />
      </section>
    </Page>
  );
}

type Delivery = Report['deliveries'][number];
const keyOf = ({ id }: Delivery): string => id;
const hrefOf = ({ id }: Delivery): string => `/deliveries/${id}`;

const DELIVERIES = { label: 'Deliveries of this event', hrefOf, columns: COLUMNS };

function AllDeliveries({ id }: { id: string }) {
  const list = useInfiniteQuery(eventDeliveriesQuery(id));
  return <PagedTable {...DELIVERIES} list={list} empty={null} />;
}

function summaryOf(told: number): string {
  if (told === 0) return 'No subscription was told of this event.';
  return told === 1
    ? 'One subscription is told of this event.'
    : `${told} subscriptions are told of this event.`;
}

function Facts({ report }: { report: Report }) {
  const { id, event, resource, accountId, applicationId, producerId, occurredAt, createdAt } =
    report;
  const isForeign = useUser().userId !== accountId;
  return (
    <dl className="facts">
      <dt>Event</dt>
      <dd>
        {event} · {resource}
      </dd>
      {isForeign && (
        <>
          <dt>Account</dt>
          <dd>{accountId}</dd>
        </>
      )}
      <dt>Application</dt>
      <dd>
        {applicationId === undefined ? (
          'none'
        ) : (
          <>
            <ApplicationName id={applicationId} />{' '}
            <Link href={`/events?applicationId=${applicationId}`}>Its events</Link>
          </>
        )}
      </dd>
      {producerId !== undefined && (
        <>
          <dt>Producer&apos;s key</dt>
          <dd>
            <bdi>{producerId}</bdi>
          </dd>
        </>
      )}
      <dt>Happened</dt>
      <dd>
        <LocalTime at={occurredAt} /> (<RelativeTime at={occurredAt} />)
      </dd>
      <dt>Accepted</dt>
      <dd>
        <LocalTime at={createdAt} /> (<RelativeTime at={createdAt} />)
      </dd>
      <dt>ID</dt>
      <dd>
        <code>{id}</code>
      </dd>
    </dl>
  );
}
