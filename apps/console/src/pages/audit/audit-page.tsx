import './audit.css';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ExportList } from '../../app/export-list.js';
import { FilteredList } from '../../app/filtered-list.js';
import { useIsNarrow } from '../../app/media.js';
import { NameOfApplication, NameOfSubscription } from '../../app/names.js';
import { Refresh } from '../../app/refresh.js';
import { isOperator } from '../../app/session-state.js';
import { useMayChange, useUser } from '../../app/session.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import type { Column } from '../../components/table.js';
import { ClockTime } from '../../components/time.js';
import { type AuditEntry, auditQuery } from './audit.queries.js';
import { ACTIONS, actorOf, pageOf, RESOURCES } from './words.js';

const FILTERS: readonly Filter[] = [
  {
    name: 'action',
    label: 'Change',
    kind: 'choice',
    choices: Object.keys(ACTIONS),
    names: ACTIONS,
  },
  {
    name: 'resource',
    label: 'What',
    kind: 'choice',
    choices: Object.keys(RESOURCES),
    names: RESOURCES,
  },
  { name: 'resourceId', label: 'Id of the resource', kind: 'text' },
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
];

const TIME: Column<AuditEntry> = {
  name: 'Time',
  width: '112px',
  cell: ({ createdAt }) => <ClockTime at={createdAt} hasClock />,
};

const CHANGE: Column<AuditEntry> = {
  name: 'Change',
  width: 'minmax(0, 3fr)',
  cell: ({ action }) => <span className="line strong">{ACTIONS[action] ?? action}</span>,
};

const BY: Column<AuditEntry> = {
  name: 'By',
  width: 'minmax(0, 2fr)',
  cell: (entry) => <bdi className="line">{actorOf(entry)}</bdi>,
};

const COLUMNS: readonly Column<AuditEntry>[] = [
  TIME,
  CHANGE,
  { name: 'What', width: 'minmax(0, 2fr)', cell: (entry) => <What entry={entry} /> },
  {
    name: 'Fields',
    width: 'minmax(0, 2fr)',
    cell: ({ fields = [] }) => (
      <span className="line muted" title={fields.join(', ')}>
        {fields.join(', ') || '–'}
      </span>
    ),
  },
  BY,
  {
    name: 'Address',
    width: '112px',
    cell: ({ address = '–' }) => (
      <bdi className="line mono muted" title={address}>
        {address}
      </bdi>
    ),
  },
  {
    name: 'Request',
    width: '88px',
    cell: ({ requestId = '–' }) => (
      <bdi className="line mono muted" title={requestId}>
        {requestId}
      </bdi>
    ),
  },
];

const COLUMNS_OF_PHONE: readonly Column<AuditEntry>[] = [
  { ...TIME, width: '104px' },
  {
    ...CHANGE,
    cell: (entry) => (
      <>
        {CHANGE.cell(entry)}
        <span className="line quiet">
          <bdi>
            <NameOf entry={entry} />
          </bdi>{' '}
          · <bdi>{actorOf(entry)}</bdi>
        </span>
      </>
    ),
  },
];

/** The changed resource: a link to its page, if it has one. */
function What({ entry }: { entry: AuditEntry }) {
  const { role } = useUser();
  const page = pageOf(role, entry.resource, entry.resourceId);
  const name = <NameOf entry={entry} />;
  return (
    <bdi className="line" title={kindAndId(entry)}>
      {page === undefined ? name : <Link href={page}>{name}</Link>}
    </bdi>
  );
}

/** The name of the changed resource; without a name, such as `credential 12`. */
function NameOf({ entry }: { entry: AuditEntry }) {
  const { resource, resourceId } = entry;
  if (resource === 'application') return <NameOfApplication id={resourceId} />;
  if (resource !== 'webhook') return kindAndId(entry);
  return <NameOfSubscription id={resourceId} otherwise={kindAndId(entry)} />;
}

function kindAndId({ resource, resourceId }: AuditEntry): string {
  const kind = resource === 'session' ? 'credential or link' : (RESOURCES[resource] ?? resource);
  return `${kind} ${resourceId}`;
}

/** Who changed what, and when. */
export default function AuditPage() {
  const filters = useFilters();
  const list = useInfiniteQuery(auditQuery(filters));
  const isNarrow = useIsNarrow();
  return (
    <Page
      title="Audit log"
      state={<Refresh list={list} />}
      actions={<ExportList path="/v1/audit" what="changes" values={filters} />}
    >
      <OneResource filters={filters} />
      <FilteredList
        filters={FILTERS}
        list={list}
        label="Changes"
        hrefOf={historyOf}
        columns={isNarrow ? COLUMNS_OF_PHONE : COLUMNS}
        rowHeight={isNarrow ? 52 : 41}
        empty={Object.keys(filters).length === 0 && <Nothing />}
      />
    </Page>
  );
}

/** Opening a change shows all changes of the same resource. */
function historyOf({ resource, resourceId }: AuditEntry): string {
  return `/audit?${new URLSearchParams({ resource, resourceId }).toString()}`;
}

/** The resource that all these changes are about. */
function OneResource({ filters }: { filters: Record<string, string> }) {
  const { role } = useUser();
  const { resource, resourceId } = filters;
  if (resource === undefined || resourceId === undefined) return null;
  const page = pageOf(role, resource, resourceId);
  return (
    <p className="one-resource">
      The changes of {RESOURCES[resource] ?? resource} <bdi>{resourceId}</bdi>.{' '}
      {page !== undefined && <Link href={page}>Open it</Link>}
    </p>
  );
}

function Nothing() {
  const mayChange = useMayChange();
  if (isOperator(useUser().role) || !mayChange) {
    return <EmptyState title="Nothing has been changed yet." />;
  }
  return (
    <EmptyState title="Nothing has been changed yet.">
      <p>
        Everything that you create, change or delete appears here.{' '}
        <Link href="/subscriptions/new">Create a subscription</Link> to begin.
      </p>
    </EmptyState>
  );
}
