import { NameOfApplication } from '../../app/names.js';
import { Pill } from '../../components/notice.js';
import type { Column } from '../../components/table.js';
import { RelativeTime } from '../../components/time.js';
import { UrlText, withoutHttps } from '../../components/url-text.js';
import { useConditions } from '../../states/use-conditions.js';
import { rateTone } from '../overview/outcomes.js';
import { rateOf } from './chosen.js';
import type { Subscription } from '../../app/names.queries.js';

const NAME: Column<Subscription> = {
  name: 'Subscription',
  width: 'minmax(0, 2.5fr)',
  sortsBy: 'name',
  cell: ({ name, targetUrl }) => <bdi className="line strong">{name ?? targetUrl}</bdi>,
};

const STATE: Column<Subscription> = {
  name: 'State',
  width: '88px',
  sortsBy: 'state',
  cell: (subscription) => <StatePill subscription={subscription} />,
};

const resourcesText = (resource: string): string => resource.replaceAll(',', ', ');

const EVENT: Column<Subscription> = {
  name: 'Event',
  width: 'minmax(0, 2fr)',
  cell: ({ event, resource }) => (
    <span className="line" title={`${event} · ${resourcesText(resource)}`}>
      {event} <span className="muted">· {resourcesText(resource)}</span>
    </span>
  ),
};

const TARGET: Column<Subscription> = {
  name: 'Target',
  width: 'minmax(0, 3fr)',
  cell: ({ targetUrl }) => <UrlText url={targetUrl} />,
};

const APPLICATION: Column<Subscription> = {
  name: 'Application',
  width: 'minmax(96px, 1.5fr)',
  cell: ({ applicationId }) =>
    applicationId === undefined ? (
      <span className="line muted">whole account</span>
    ) : (
      <bdi className="line">
        <NameOfApplication id={applicationId} />
      </bdi>
    ),
};

const LAST: Column<Subscription> = {
  name: 'Last success',
  width: '112px',
  sortsBy: '-lastSuccess',
  cell: ({ activity: { lastSuccessAt } = {} }) => (
    <span className="line muted">
      {lastSuccessAt === undefined ? (
        <span title="No notification has succeeded yet">–</span>
      ) : (
        <RelativeTime at={lastSuccessAt} />
      )}
    </span>
  ),
};

const SUCCESS: Column<Subscription> = {
  name: 'Success, 24 h',
  width: '88px',
  isNumber: true,
  sortsBy: 'success',
  cell: (subscription) => <Rate subscription={subscription} />,
};

/** The columns of subscription lists: all, for an application, and on a phone. */
export const COLUMNS = {
  all: [NAME, STATE, EVENT, TARGET, APPLICATION, LAST, SUCCESS],
  ofApplication: [NAME, STATE, EVENT, TARGET, LAST, SUCCESS],
  phone: [
    {
      ...NAME,
      width: 'minmax(0, 1fr)',
      cell: (subscription) => (
        <>
          {NAME.cell(subscription)}
          <bdi className="line quiet">{withoutHttps(subscription.targetUrl)}</bdi>
        </>
      ),
    },
    { ...STATE, width: '80px' },
    { ...SUCCESS, name: 'Success', width: '68px' },
  ],
} as const satisfies Record<string, readonly Column<Subscription>[]>;

/** The most important condition of a subscription, in a word. */
function StatePill({ subscription }: { subscription: Subscription }) {
  const [{ tone, word, api }] = useConditions(subscription);
  return (
    <Pill tone={tone} title={api}>
      {word}
    </Pill>
  );
}

function Rate({ subscription }: { subscription: Subscription }) {
  const rate = rateOf(subscription);
  const [{ needsAttention }] = useConditions(subscription);
  if (rate === undefined || !subscription.activity) {
    return <span title="No attempts in the last 24 hours">–</span>;
  }
  const { succeeded, failed } = subscription.activity;
  const tone = rateTone(succeeded, failed);
  // Attempts that were retried with success do not contradict the state beside them.
  const shown = tone === 'good' || needsAttention ? `toned ${tone}` : undefined;
  const [part, all] = [succeeded, succeeded + failed].map((count) => count.toLocaleString('en'));
  return (
    <span className={shown} title={`${part} of ${all} attempts succeeded in the last 24 hours`}>
      {rate}
    </span>
  );
}
