import { useInfiniteQuery } from '@tanstack/react-query';
import { Plus } from 'lucide-react';
import { Link } from 'wouter';
import { useCustomer, useMayChangeShown, useSameAccount } from '../../app/account.js';
import { useIsNarrow } from '../../app/media.js';
import { Problem } from '../../app/problem.js';
import { Refresh } from '../../app/refresh.js';
import { EmptyState } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PagedTable } from '../../components/paged-table.js';
import type { Column } from '../../components/table.js';
import { RelativeTime } from '../../components/time.js';
import { UrlText, withoutHttps } from '../../components/url-text.js';
import { type Application, applicationsQuery } from './applications.queries.js';

const NAME: Column<Application> = {
  name: 'Application',
  width: 'minmax(0, 2fr)',
  cell: ({ name }) => <bdi className="line strong">{name}</bdi>,
};

const urlColumn = (name: string, member: 'voiceUrl' | 'messagingUrl'): Column<Application> => ({
  name,
  width: 'minmax(0, 5fr)',
  cell: ({ [member]: url }) => (url === undefined ? '–' : <UrlText url={url} />),
});

const CHANGED: Column<Application> = {
  name: 'Changed',
  width: '104px',
  cell: ({ updatedAt }) => (
    <span className="line muted">
      <RelativeTime at={updatedAt} />
    </span>
  ),
};

const COLUMNS: readonly Column<Application>[] = [
  NAME,
  urlColumn('Voice URL', 'voiceUrl'),
  urlColumn('Messaging URL', 'messagingUrl'),
  { name: 'Type', width: '60px', cell: ({ apiType }) => <span className="line">{apiType}</span> },
  { name: 'Id', width: '56px', cell: ({ id }) => <span className="line mono muted">{id}</span> },
  CHANGED,
];

const COLUMNS_OF_PHONE: readonly Column<Application>[] = [
  {
    ...NAME,
    width: 'minmax(0, 1fr)',
    cell: (application) => (
      <>
        {NAME.cell(application)}
        <bdi className="line quiet">
          {withoutHttps(application.voiceUrl ?? application.messagingUrl ?? '')}
        </bdi>
      </>
    ),
  },
  CHANGED,
];

/** The account's applications. */
export default function ApplicationsPage() {
  const customer = useCustomer();
  const mayChange = useMayChangeShown();
  const inAccount = useSameAccount();
  const list = useInfiniteQuery(applicationsQuery(customer));
  const isNarrow = useIsNarrow();
  return (
    <Page
      title="Applications"
      state={<Refresh list={list} />}
      actions={
        mayChange && (
          <Link href="/applications/new" className="button primary">
            <Plus size={15} aria-hidden /> New application
          </Link>
        )
      }
    >
      <Problem error={list.error} />
      <PagedTable
        list={list}
        label="Applications"
        hrefOf={({ id }) => inAccount(`/applications/${id}`)}
        columns={isNarrow ? COLUMNS_OF_PHONE : COLUMNS}
        rowHeight={isNarrow ? 52 : 41}
        empty={
          <EmptyState title="There are no applications yet.">
            {mayChange && (
              <p>
                An application names the URLs that control calls and messages.{' '}
                <Link href="/applications/new">Create the first one</Link>.
              </p>
            )}
          </EmptyState>
        }
      />
    </Page>
  );
}
