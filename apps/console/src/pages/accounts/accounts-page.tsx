import { useInfiniteQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { Link } from 'wouter';
import { sentenceOf } from '../../app/api.js';
import { useCommands } from '../../app/palette.js';
import { Badge } from '../../components/notice.js';
import { Page } from '../../components/page.js';
import { PasswordOnce } from '../../components/password-once.js';
import { type Column, Table } from '../../components/table.js';
import { LocalTime } from '../../components/time.js';
import { type User, useCreateUser, usersQuery } from './accounts.queries.js';
import { NewAccount } from './new-account.js';

const COLUMNS: readonly Column<User>[] = [
  {
    name: 'Account',
    width: 'minmax(0, 2fr)',
    cell: ({ id, username }) => (
      <>
        <bdi className="strong">{username}</bdi> <span className="quiet">{id}</span>
      </>
    ),
  },
  {
    name: 'State',
    width: 'minmax(0, 1fr)',
    cell: ({ status, role }) => (
      <>
        <Badge tone={status === 'active' ? 'good' : 'bad'}>{status}</Badge>
        {role === 'platform' && <span className="quiet"> platform</span>}
      </>
    ),
  },
  {
    name: 'Since',
    width: 'minmax(0, 1fr)',
    cell: ({ joinDate }) => (
      <span className="quiet">
        <LocalTime at={joinDate} />
      </span>
    ),
  },
];

/** All users, and a form for a new one. */
export default function AccountsPage() {
  const list = useInfiniteQuery(usersQuery);
  const create = useCreateUser();
  const [isNew, setIsNew] = useState(false);

  const rows = list.data?.pages.flatMap((page) => page.rows) ?? [];
  const { hasNextPage, isFetching, fetchNextPage, error } = list;
  const loadMore = useCallback(() => {
    if (hasNextPage && !isFetching) void fetchNextPage();
  }, [hasNextPage, isFetching, fetchNextPage]);

  function open(): void {
    create.reset();
    setIsNew(true);
  }
  useCommands([{ name: 'New account', group: 'Actions', run: open }]);

  const created = isNew ? undefined : create.data;
  return (
    <Page
      title="Accounts"
      actions={
        <button type="button" className="primary" onClick={open}>
          New account
        </button>
      }
    >
      {created && (
        <PasswordOnce password={created.password} onDone={create.reset}>
          The account{' '}
          <Link href={`/accounts/${created.id}`}>
            <bdi>{created.username}</bdi>
          </Link>{' '}
          was created.
        </PasswordOnce>
      )}
      {isNew && (
        <NewAccount
          error={create.error}
          isPending={create.isPending}
          onSubmit={(user) => create.mutate(user, { onSuccess: () => setIsNew(false) })}
          onClose={() => setIsNew(false)}
        />
      )}
      {error && (
        <p className="problem" role="alert">
          {sentenceOf(error)}
        </p>
      )}
      {rows.length > 0 && (
        <Table
          label="Accounts"
          rows={rows}
          keyOf={keyOf}
          hrefOf={hrefOf}
          columns={COLUMNS}
          onEnd={loadMore}
        />
      )}
      <p className="quiet" role="status">
        {isFetching
          ? 'Loading …'
          : !hasNextPage && rows.length > 0 && `That is all: ${rows.length}.`}
      </p>
    </Page>
  );
}

const keyOf = ({ id }: User): string => String(id);
const hrefOf = ({ id }: User): string => `/accounts/${id}`;
