import '../subscriptions/subscriptions.css';
import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback } from 'react';
import { Link } from 'wouter';
import { sentenceOf } from '../../app/api.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { type Column, Table } from '../../components/table.js';
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
  const { hasNextPage, isFetching, fetchNextPage, error } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);
  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  return (
    <Page title="Applications" actions={<Link href="/applications/new">New application</Link>}>
      {error && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      {rows.length > 0 && (
        <Table
          label="Applications"
          rows={rows}
          keyOf={keyOf}
          hrefOf={hrefOf}
          columns={COLUMNS}
          onEnd={loadMore}
        />
      )}
      {list.data && rows.length === 0 && (
        <EmptyState title="There are no applications yet.">
          <p>
            An application says which address drives calls and messages.{' '}
            <Link href="/applications/new">Create the first one</Link>.
          </p>
        </EmptyState>
      )}
    </Page>
  );
}

const keyOf = ({ id }: Application): string => id;
const hrefOf = ({ id }: Application): string => `/applications/${id}`;
