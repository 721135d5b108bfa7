import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { Problem } from '../../app/problem.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import type { Column } from '../../components/table.js';
import { RelativeTime } from '../../components/time.js';
import { type Application, applicationsQuery } from './applications.queries.js';

const COLUMNS: readonly Column<Application>[] = [
  {
    name: 'Application',
    width: 'minmax(0, 2fr)',
    cell: ({ name, voiceUrl, messagingUrl }) => (
      <>
        <bdi className="line strong">{name}</bdi>
        <bdi className="line quiet">{voiceUrl ?? messagingUrl}</bdi>
      </>
    ),
  },
  {
    name: 'Id',
    width: 'minmax(0, 1fr)',
    cell: ({ id, apiType, updatedAt }) => (
      <>
        <span className="line">
          {id} · {apiType}
        </span>
        <span className="line quiet">
          changed <RelativeTime at={updatedAt} />
        </span>
      </>
    ),
  },
];

/** The account's applications. */
export default function ApplicationsPage() {
  const list = useInfiniteQuery(applicationsQuery);
  return (
    <Page
      title="Applications"
      actions={
        <Link href="/applications/new" className="button primary">
          New application
        </Link>
      }
    >
      <Problem error={list.error} />
      <PagedTable
        list={list}
        label="Applications"
        hrefOf={({ id }) => `/applications/${id}`}
        columns={COLUMNS}
        empty={
          <EmptyState title="There are no applications yet.">
            <p>
              An application says which address drives calls and messages.{' '}
              <Link href="/applications/new">Create the first one</Link>.
            </p>
          </EmptyState>
        }
      />{' '}
    </Page>
  );
}
