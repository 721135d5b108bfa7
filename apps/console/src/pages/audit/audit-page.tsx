import './audit.css';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { FilteredList } from '../../app/filtered-list.js';
import { useUser } from '../../app/session.js';
import { type Filter, useFilters } from '../../components/filter-bar.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import type { Column } from '../../components/table.js';
import { RelativeTime } from '../../components/time.js';
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
    label: 'Of',
    kind: 'choice',
    choices: Object.keys(RESOURCES),
    names: RESOURCES,
  },
  { name: 'resourceId', label: 'With the id', kind: 'text' },
  { name: 'since', label: 'Since', kind: 'time' },
  { name: 'until', label: 'Until', kind: 'time' },
];

const COLUMNS: readonly Column<AuditEntry>[] = [
  {
    name: 'Change',
    width: 'minmax(0, 2fr)',
    cell: ({ action, resourceId, fields, requestId }) => (
      <>
        <span className="line strong">{ACTIONS[action] ?? action}</span>
        <span className="line quiet">
          {[resourceId, fields?.join(', '), requestId && `request ${requestId}`]
            .filter(Boolean)
            .join(' · ')}
        </span>
      </>
    ),
  },
  {
    name: 'By',
    width: 'minmax(0, 1fr)',
    cell: (entry) => (
      <>
        <bdi className="line">{actorOf(entry)}</bdi>
        <span className="line quiet">
          <RelativeTime at={entry.createdAt} />
          {entry.address !== undefined && ` · ${entry.address}`}
        </span>
      </>
    ),
  },
];

/** Who changed what, and when. */
export default function AuditPage() {
  const filters = useFilters();
  const list = useInfiniteQuery(auditQuery(filters));
  return (
    <Page title="Audit">
      <FilteredList
        filters={FILTERS}
        list={list}
        label="Changes"
        hrefOf={historyOf}
        columns={COLUMNS}
        empty={Object.keys(filters).length === 0 && <Nothing />}
      >
        <OneResource filters={filters} />
      </FilteredList>
    </Page>
  );
}

/** A change leads to all changes of the same thing. */
function historyOf({ resource, resourceId }: AuditEntry): string {
  return `/audit?${new URLSearchParams({ resource, resourceId }).toString()}`;
}

/** Whose changes these are, if they all are of one resource. */
function OneResource({ filters }: { filters: Record<string, string> }) {
  const { role } = useUser();
  const { resource, resourceId } = filters;
  if (resource === undefined || resourceId === undefined) return null;
  const page = pageOf(role, resource, resourceId);
  return (
    <span className="one-resource">
      The changes of {RESOURCES[resource] ?? resource} <bdi>{resourceId}</bdi>.{' '}
      {page !== undefined && <Link href={page}>Open it</Link>}
    </span>
  );
}

function Nothing() {
  if (useUser().role === 'platform') return <EmptyState title="Nothing has been changed yet." />;
  return (
    <EmptyState title="Nothing has been changed yet.">
      <p>
        Everything that you create, change or delete appears here.{' '}
        <Link href="/subscriptions/new">Create a subscription</Link> to begin.
      </p>
    </EmptyState>
  );
}
