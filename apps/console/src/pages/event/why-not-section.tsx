import { ChevronRight } from 'lucide-react';
import { useState } from 'react';
import { Link } from 'wouter';
import { ofAccount } from '../../app/account.js';
import { NameOfApplication } from '../../app/names.js';
import { Problem } from '../../app/problem.js';
import { useMayChange } from '../../app/session.js';
import { LocalTime } from '../../components/time.js';
import type { Subscription } from '../../app/names.queries.js';
import { type Report, useSend } from './event.queries.js';
import { canBeSent, groupsOf, type WhyNot, type WhyNotGroup, whyNotOf } from './why-not.js';

/** Subscriptions shown for each reason; the others on request. */
const FIRST = 20;

/** The subscriptions that did not get an event, grouped by reason. */
export function WhyNotSection({
  report,
  subscriptions,
  isOwn,
}: {
  report: Report;
  /** Undefined while loading. */
  subscriptions: readonly Subscription[] | undefined;
  /** Whether the subscriptions belong to the event's account. */
  isOwn: boolean;
}) {
  return (
    <section className="card" aria-labelledby="why-not">
      <header>
        <h2 id="why-not">Not notified</h2>
        <span className="quiet">By their current settings</span>
      </header>
      {subscriptions ? (
        <Reasons report={report} subscriptions={subscriptions} isOwn={isOwn} />
      ) : (
        <p className="nobody">Loading …</p>
      )}
    </section>
  );
}

function Reasons({
  report,
  subscriptions,
  isOwn,
}: {
  report: Report;
  subscriptions: readonly Subscription[];
  isOwn: boolean;
}) {
  const { deliveries } = report;
  const mayChange = useMayChange();
  if (deliveries.some(({ test }) => test)) {
    return <p className="nobody">This event is a test of one subscription.</p>;
  }
  const groups = groupsOf(report, whyNotOf(report, subscriptions));
  // Count disabled subscriptions, which can be enabled.
  const isCovered = subscriptions.some((one) => canBeSent(report, { ...one, enabled: true }));
  return (
    <>
      {groups.length === 0 && (
        <p className="nobody">
          {deliveries.length > 0 ? (
            'Every subscription that matches was notified.'
          ) : (
            <Nobody subscriptions={subscriptions} isOwn={isOwn} />
          )}
        </p>
      )}
      {isOwn && mayChange && deliveries.length === 0 && !isCovered && <Create report={report} />}
      {groups.map((group, index) => (
        <Group
          key={group.reason}
          group={group}
          report={report}
          isOwn={isOwn}
          isFirst={index === 0}
        />
      ))}
    </>
  );
}

function Group({
  group: { title, sentence, all },
  report,
  isOwn,
  isFirst,
}: {
  group: WhyNotGroup;
  report: Report;
  isOwn: boolean;
  isFirst: boolean;
}) {
  const [isOpen, setOpen] = useState(isFirst);
  const [wantsAll, setWantsAll] = useState(false);
  const shown = wantsAll ? all : all.slice(0, FIRST);
  return (
    <details
      className="reason"
      open={isOpen}
      onToggle={({ currentTarget }) => setOpen(currentTarget.open)}
    >
      <summary>
        <ChevronRight size={14} aria-hidden />
        <span className="strong">{title}</span>{' '}
        <span className="muted">
          · {all.length === 1 ? '1 subscription' : `${all.length} subscriptions`}
        </span>
      </summary>
      {isOpen && (
        <>
          <p className="quiet">{sentence}</p>
          <ul className="why-not">
            {shown.map((one) => (
              <li key={one.webhookId}>
                <NotTold of={one} report={report} isOwn={isOwn} />
              </li>
            ))}
          </ul>
          {shown.length < all.length && (
            <button type="button" className="small" onClick={() => setWantsAll(true)}>
              Show all {all.length}
            </button>
          )}
        </>
      )}
    </details>
  );
}

function NotTold({
  of: { webhookId, subscription, reason, detail, at },
  report,
  isOwn,
}: {
  of: WhyNot;
  report: Report;
  isOwn: boolean;
}) {
  const name = subscription?.name ?? subscription?.targetUrl ?? `Subscription ${webhookId}`;
  const send = useSend(report.id);
  const mayChange = useMayChange();
  const applicationId = subscription?.applicationId;
  const customer = isOwn ? undefined : String(report.accountId);
  return (
    <>
      <div>
        <Link href={ofAccount(`/subscriptions/${webhookId}`, customer)} className="strong">
          <bdi>{name}</bdi>
        </Link>
        {subscription && (
          <p className="quiet">
            {subscription.event} · {subscription.resource.replaceAll(',', ', ')} ·{' '}
            {applicationId === undefined ? (
              'whole account'
            ) : isOwn ? (
              <Link href={`/applications/${applicationId}`}>
                <bdi>
                  <NameOfApplication id={applicationId} />
                </bdi>
              </Link>
            ) : (
              applicationId
            )}
            {detail !== undefined && ` · ${detail}`}
            {at !== undefined && (
              <>
                {' '}
                <LocalTime at={at} />
              </>
            )}
          </p>
        )}
        <Problem error={send.error} />
      </div>
      {mayChange && reason !== 'filter' && canBeSent(report, subscription) && (
        <button
          type="button"
          className="small"
          onClick={() => send.mutate(webhookId)}
          disabled={send.isPending || send.isSuccess}
        >
          Send
        </button>
      )}
    </>
  );
}

/** Shown if the API gives no reasons. */
function Nobody({
  subscriptions,
  isOwn,
}: {
  subscriptions: readonly Subscription[];
  isOwn: boolean;
}) {
  if (!isOwn) {
    return 'There is no subscription for the whole account or for the application of this event.';
  }
  return subscriptions.length === 0
    ? 'There is no subscription.'
    : 'No subscription covers this event: all are for other applications.';
}

/** Links to a new subscription for these events. */
function Create({ report: { event, applicationId } }: { report: Report }) {
  const href = `/subscriptions/new?event=${event}`;
  return (
    <p className="nobody">
      {applicationId === undefined ? (
        <Link href={href}>Create a subscription for the whole account</Link>
      ) : (
        <>
          <Link href={`${href}&applicationId=${applicationId}`}>
            Create a subscription for application <NameOfApplication id={applicationId} />
          </Link>
          , or one <Link href={href}>for the whole account</Link>,
        </>
      )}{' '}
      to get later events like this one. Then you can send it this one, too.
    </p>
  );
}
