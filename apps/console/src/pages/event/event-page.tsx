import '../deliveries/deliveries.css';
import '../delivery/delivery.css';
import './event.css';
import { skipToken, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import { AccountName } from '../../app/account-name.js';
import { ofAccount } from '../../app/account.js';
import { NameOfApplication } from '../../app/names.js';
import { FRESH_MS, subscriptionsOf } from '../../app/names.queries.js';
import { Unavailable } from '../../app/problem.js';
import { useUser } from '../../app/session.js';
import { useStream } from '../../app/stream.js';
import { JsonText } from '../../components/json-text.js';
import { Pill } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import { Table } from '../../components/table.js';
import { LocalTime, RelativeTime } from '../../components/time.js';
import { COLUMNS } from '../deliveries/columns.js';
import { eventDeliveriesQuery, type Report, reportQuery, SHOWN } from './event.queries.js';
import { WhyNotSection } from './why-not-section.js';

/** One event: the subscriptions that were told, the others with the reason, and its data. */
export default function EventPage({ params }: { params: Record<string, string> }) {
  const id = params['id'] ?? '';
  const client = useQueryClient();
  const { data, error } = useQuery(reportQuery(id));
  // Covers the report, and all deliveries.
  const queryKey = ['event', id];
  useStream({
    delivery: ({ eventId }) => eventId === id && void client.invalidateQueries({ queryKey }),
    // A changed subscription may change deliveries and reasons.
    webhook: () => void client.invalidateQueries({ queryKey }),
  });
  if (data) return <Shown report={data.report} data={data.data} />;
  return (
    <Unavailable title="Event" error={error}>
      It may have been removed because of its age, or belong to another account. Go to{' '}
      <Link href="/events">all events</Link>.
    </Unavailable>
  );
}

function Shown({ report, data }: { report: Report; data: string }) {
  const { event, resource, producerId, deliveries } = report;
  const hasMore = deliveries.length >= SHOWN;
  // The audit would note each event that an operator looks at.
  const isOwn = useUser().userId === report.accountId;
  const subscriptions = useQuery({
    ...subscriptionsOf(),
    staleTime: FRESH_MS,
    ...(!isOwn && { queryFn: skipToken }),
  });
  return (
    <Page
      title={`${event} · ${resource}`}
      tab={`${event}${producerId === undefined ? '' : ` ${producerId}`} – Events`}
      crumb={
        <Link href="/events" className="crumb">
          Events
        </Link>
      }
      state={
        <Pill tone={deliveries.length === 0 ? 'waiting' : 'neutral'}>
          {hasMore ? `${SHOWN} or more deliveries` : summaryOf(deliveries.length)}
        </Pill>
      }
    >
      <div className="event">
        <section className="card event-data" aria-labelledby="data">
          <h2 id="data">Data</h2>
          <JsonText label="Data" text={data} />
        </section>
        <Facts report={report} />
      </div>
      <div className="told">
        <section className="card" aria-labelledby="told">
          <header>
            <h2 id="told">Notified</h2>
          </header>
          {deliveries.length === 0 ? (
            <p className="nobody">No subscription was notified.</p>
          ) : hasMore ? (
            <AllDeliveries id={report.id} />
          ) : (
            <Table {...DELIVERIES} rows={deliveries} keyOf={keyOf} />
          )}
        </section>
        <WhyNotSection
          report={report}
          subscriptions={isOwn && !subscriptions.isError ? subscriptions.data : []}
          isOwn={isOwn}
        />
      </div>
    </Page>
  );
}

type Delivery = Report['deliveries'][number];
const keyOf = ({ id }: Delivery): string => id;
const hrefOf = ({ id }: Delivery): string => `/deliveries/${id}`;

const DELIVERIES = {
  label: 'Deliveries of this event',
  hrefOf,
  columns: COLUMNS.ofEvent,
  rowHeight: 52,
};

function AllDeliveries({ id }: { id: string }) {
  const list = useInfiniteQuery(eventDeliveriesQuery(id));
  return <PagedTable {...DELIVERIES} list={list} empty={null} />;
}

function summaryOf(told: number): string {
  if (told === 0) return 'no subscription matched';
  return told === 1 ? '1 delivery' : `${told} deliveries`;
}

function Facts({ report }: { report: Report }) {
  const { id, accountId, applicationId, producerId, occurredAt, createdAt } = report;
  const isForeign = useUser().userId !== accountId;
  return (
    <dl className="facts">
      {isForeign && (
        <>
          <dt>Account</dt>
          <dd>
            <Link href={`/accounts/${accountId}`}>
              <AccountName id={String(accountId)} />
            </Link>
          </dd>
        </>
      )}
      <dt>Application</dt>
      <dd>
        {applicationId === undefined ? (
          '–'
        ) : isForeign ? (
          <Link href={ofAccount(`/applications/${applicationId}`, String(accountId))}>
            <bdi>
              <NameOfApplication id={applicationId} customer={String(accountId)} />
            </bdi>
          </Link>
        ) : (
          <Link href={`/applications/${applicationId}`}>
            <bdi>
              <NameOfApplication id={applicationId} />
            </bdi>
          </Link>
        )}
      </dd>
      {producerId !== undefined && (
        <>
          <dt>Producer’s id</dt>
          <dd>
            <bdi className="mono">{producerId}</bdi>
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
      <dt>Id</dt>
      <dd>
        <code>{id}</code>
      </dd>
    </dl>
  );
}
