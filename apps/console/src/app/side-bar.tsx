import './side-bar.css';
import { BookOpen, Braces, ChevronsUpDown, Puzzle, Search } from 'lucide-react';
import { skipToken, useQuery } from '@tanstack/react-query';
import { Link, useLocation } from 'wouter';
import { Mark } from '../components/mark.js';
import { Pill } from '../components/notice.js';
import { zoneText } from '../components/time.js';
import { needingAttention } from '../states/attention.js';
import { useAccountShown } from './account.js';
import { API_URL } from './addresses.js';
import { subscriptionsOf } from './names.queries.js';
import { PAGE_ICONS } from './page-icons.js';
import { openPalette } from './commands.js';
import type { PageEntry } from './pages.js';
import { isOperator } from './session-state.js';
import { logOut, READS_ONLY, useMayChange, useUser } from './session.js';
import { useStore } from './store.js';
import { streamState } from './stream.js';
import { THEMES, theme } from './theme.js';

const STREAM = {
  connecting: 'Connecting',
  live: 'Live',
  interrupted: 'Interrupted',
  unreachable: 'Not reachable',
} as const;

/** The pages of the documentation may not be shown in a frame. */
const DOCS_TARGET = parent === window ? undefined : '_blank';

/** The mark, the palette's button, the pages, and the logged-in user. */
export function SideBar({ pages }: { pages: readonly PageEntry[] }) {
  const sick = useSick();
  return (
    <section className="side" aria-label="Navigation">
      <Link href="/" className="brand">
        <Mark /> Switchhook
      </Link>
      <button
        type="button"
        className="find"
        onClick={openPalette}
        aria-keyshortcuts="Control+K Meta+K"
      >
        <Search size={16} aria-hidden /> Find <kbd aria-hidden>Ctrl K</kbd>
      </button>
      <nav aria-label="Pages">
        {pages.map(
          (page) =>
            page.name !== undefined && (
              <PageLink
                key={page.path}
                page={page}
                count={page.path === '/subscriptions' ? sick : 0}
              />
            ),
        )}
      </nav>
      <nav aria-labelledby="developers">
        <p id="developers">Developers</p>
        <a href={`${API_URL}/docs/receiving`} target={DOCS_TARGET}>
          <BookOpen size={16} aria-hidden /> Receiving guide
        </a>
        <a href={`${API_URL}/docs`} target={DOCS_TARGET}>
          <Braces size={16} aria-hidden /> API reference
        </a>
      </nav>
      <UserMenu />
    </section>
  );
}

function PageLink({
  page: { path, name, byAccount },
  count,
}: {
  page: PageEntry;
  /** The number of subscriptions that need attention on that page. */
  count: number;
}) {
  const [location] = useLocation();
  const { accountId } = useAccountShown();
  const Icon = PAGE_ICONS[path] ?? Puzzle;
  const isOpen = location === path || location.startsWith(`${path}/`);
  const query =
    byAccount && accountId !== undefined ? `?accountId=${encodeURIComponent(accountId)}` : '';
  return (
    <Link
      href={path + query}
      className={isOpen ? 'open' : undefined}
      aria-current={location === path ? 'page' : undefined}
      aria-description={count > 0 ? `${count} need attention` : undefined}
    >
      <Icon size={16} aria-hidden /> {name}
      {count > 0 && (
        <span className="count" aria-hidden>
          {count}
        </span>
      )}
    </Link>
  );
}

/** How many of the account's subscriptions need attention. */
function useSick(): number {
  const { role } = useUser();
  const { data = [] } = useQuery({
    ...subscriptionsOf(),
    ...(isOperator(role) && { queryFn: skipToken }),
  });
  return needingAttention(data).length;
}

/** The logged-in user, the state of live updates, and the browser's settings. */
function UserMenu() {
  const { username, userId, role } = useUser();
  const mayChange = useMayChange();
  const chosen = useStore(theme);
  return (
    <>
      <div className="user-menu" id="user-menu" popover="auto" aria-label="Your account">
        <fieldset>
          <legend>Theme</legend>
          <div className="segments">
            {THEMES.map((each) => (
              <button
                key={each}
                type="button"
                aria-pressed={each === chosen}
                onClick={() => theme.set(each)}
              >
                {each[0]!.toUpperCase() + each.slice(1)}
              </button>
            ))}
          </div>
        </fieldset>
        <p className="quiet">Times are in {zoneText()}.</p>
        <button type="button" onClick={() => void logOut()}>
          Log out
        </button>
      </div>
      <div className="who">
        {!mayChange && (
          <span className="reads-only">
            <Pill
              tone="neutral"
              title={`${READS_ONLY} It began with a credential or a link of the scope read.`}
            >
              read-only
            </Pill>
          </span>
        )}
        <button type="button" popoverTarget="user-menu">
          <span className="initial" aria-hidden>
            {Array.from(username)[0]?.toUpperCase()}
          </span>
          <span className="name">
            <bdi title={username}>{username}</bdi>
            <span className="role">
              {isOperator(role) ? 'Operator' : `Account ${String(userId)}`}
            </span>
          </span>
          <ChevronsUpDown size={14} aria-hidden />
        </button>
        <StreamStatus />
      </div>
    </>
  );
}

/** Whether the page receives live updates. */
export function StreamStatus() {
  const { name } = useStore(streamState);
  return (
    <span className={`stream ${name}`} role="status">
      {STREAM[name]}
    </span>
  );
}
