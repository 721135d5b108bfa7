import { Pill } from '../components/notice.js';
import type { Column } from '../components/table.js';
import { DayOfYear } from '../components/time.js';
import type { Schemas } from './api.js';

type User = Schemas['User'];

/** The API's roles in words. */
export const ROLES: Readonly<Record<User['role'], string>> = {
  account: 'customer',
  platform: 'platform',
  operator: 'operator',
  reporter: 'reporter',
};

const NAME: Column<User> = {
  name: 'Account',
  width: 'minmax(0, 3fr)',
  cell: ({ username }) => <bdi className="line strong">{username}</bdi>,
};
const ROLE: Column<User> = {
  name: 'Role',
  width: 'minmax(72px, 1fr)',
  cell: ({ role }) => <span className="muted">{ROLES[role]}</span>,
};
const STATE: Column<User> = {
  name: 'State',
  width: 'minmax(84px, 1fr)',
  cell: ({ status }) => <Pill tone={status === 'active' ? 'good' : 'bad'}>{status}</Pill>,
};
const CREATED: Column<User> = {
  name: 'Created',
  width: 'minmax(96px, 1fr)',
  cell: ({ joinDate }) => (
    <span className="muted">
      <DayOfYear at={joinDate} />
    </span>
  ),
};
const ID: Column<User> = {
  name: 'Id',
  width: '96px',
  isNumber: true,
  cell: ({ id }) => <span className="muted">{id}</span>,
};

/** The columns of a list of accounts: all, and those on a phone. */
export const ACCOUNT_COLUMNS = {
  all: [NAME, ROLE, STATE, CREATED, ID],
  phone: [NAME, ROLE, STATE],
} as const satisfies Record<string, readonly Column<User>[]>;
