import './shell.css';
import { Menu, Search, X } from 'lucide-react';
import { lazy, Suspense, useEffect, useState } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { Dialog } from '../components/dialog.js';
import { Mark } from '../components/mark.js';
import { Notice, Pill } from '../components/notice.js';
import { BesideTitle, Page } from '../components/page.js';
import { SkeletonPage } from '../components/skeleton.js';
import { LocalTime } from '../components/time.js';
import { Toasts } from '../components/toast.js';
import { API_URL } from './addresses.js';
import { AccountPicker } from './account-picker.js';
import { useAccountShown } from './account.js';
import { openPalette, useCommands } from './commands.js';
import { CustomerNotice } from './customer-notice.js';
import { Boundary } from './boundary.js';
import { forgetDraftsOfOthers } from './drafts.js';
import { Keys, openKeys } from './keys.js';
import { useIsNarrow } from './media.js';
import { Palette } from './palette.js';
import { type PageEntry, pagesFor } from './pages.js';
import { isOperator } from './session-state.js';
import { logOut, READS_ONLY, useMayChange, useUser } from './session.js';
import { SideBar, StreamStatus } from './side-bar.js';
import { useStore } from './store.js';
import { openStream, streamState } from './stream.js';
import { useLiveSubscriptions } from './live-subscriptions.js';
import { theme, THEMES } from './theme.js';

// Only operators need it.
const PickAccount = lazy(() => import('./pick-account.js'));

/** The frame of every page: navigation, palette, toasts. */
export function Shell() {
  const { role, userId } = useUser();
  const pages = pagesFor(role);
  // The entries of the palette and the navigation.
  const offered = pages.filter(({ ofOwn }) => !ofOwn || role === 'account');
  const mayChange = useMayChange();
  const isNarrow = useIsNarrow();
  const [location, navigate] = useLocation();
  useEffect(() => openStream(userId), [userId]);
  useLiveSubscriptions();
  useEffect(() => forgetDraftsOfOthers(userId), [userId]);
  useCommands([
    ...offered.flatMap(({ path, name }) =>
      name === undefined ? [] : [{ name, group: 'Pages', run: () => navigate(path) }],
    ),
    ...offered.flatMap(({ path, action }) =>
      action === undefined || !mayChange
        ? []
        : [{ name: action, group: 'Actions', run: () => navigate(path) }],
    ),
    ...Object.entries({ 'Receiving guide': 'docs/receiving', 'API reference': 'docs' }).map(
      ([name, path]) => ({
        name,
        group: 'Pages',
        run: () => window.location.assign(`${API_URL}/${path}`),
      }),
    ),
    ...THEMES.map((each) => ({
      name: `Theme: ${each}`,
      group: 'Console',
      run: () => theme.set(each),
    })),
    { name: 'Keys', group: 'Console', run: openKeys },
    { name: 'Log out', group: 'Console', run: () => void logOut() },
  ]);
  return (
    <div className="shell">
      <a className="skip" href="#main">
        Skip to the content
      </a>
      {isNarrow ? <TopBar pages={offered} /> : <SideBar pages={offered} />}
      <main id="main" tabIndex={-1}>
        <Boundary key={location}>
          <Suspense fallback={<SkeletonPage />}>
            <Switch>
              <Route path="/">
                <Redirect to={pages[0]?.path ?? '/'} replace />
              </Route>
              {pages.map((page) => (
                <Route key={page.path} path={page.path}>
                  {(params) => <Shown page={page} params={params as Record<string, string>} />}
                </Route>
              ))}
              <Route>
                <Page title="Page not found">
                  <p>
                    There is no page at this address. Go to <Link href="/">the first page</Link>.
                  </p>
                </Page>
              </Route>
            </Switch>
          </Suspense>
        </Boundary>
      </main>
      <Palette pages={offered} />
      <Keys />
      <Interrupted />
      <Toasts />
    </div>
  );
}

/** The top bar on phones: the mark, with the sidebar behind a button. */
function TopBar({ pages }: { pages: readonly PageEntry[] }) {
  const [location] = useLocation();
  const [openAt, setOpenAt] = useState<string>();
  return (
    <header className="top-bar">
      <button type="button" className="plain" aria-label="Menu" onClick={() => setOpenAt(location)}>
        <Menu size={20} aria-hidden />
      </button>
      <Link href="/" className="brand">
        <Mark /> Switchhook
      </Link>
      <StreamStatus />
      <button type="button" className="plain" aria-label="Find" onClick={openPalette}>
        <Search size={20} aria-hidden />
      </button>
      {/* Opening another page closes it. */}
      {openAt === location && (
        <Dialog label="Menu" className="drawer" onClose={() => setOpenAt(undefined)}>
          <button
            type="button"
            className="plain close"
            aria-label="Close the menu"
            onClick={() => setOpenAt(undefined)}
          >
            <X size={20} aria-hidden />
          </button>
          <SideBar pages={pages} />
        </Dialog>
      )}
    </header>
  );
}

/** Each id has its own page state. */
function Shown({ page, params }: { page: PageEntry; params: Record<string, string> }) {
  const { role } = useUser();
  const { accountId, isOwn } = useAccountShown();
  const isPicked = page.byAccount !== undefined && isOperator(role);
  const isOne = page.byAccount === 'one';
  const mayChange = useMayChange();
  if (page.action !== undefined && !mayChange) {
    return (
      <Page title={page.action}>
        <p>{READS_ONLY}</p>
      </Page>
    );
  }
  if (isPicked && isOne && accountId === undefined) return <PickAccount page={page} />;
  return (
    <BesideTitle
      value={
        isPicked && (
          <>
            <AccountPicker none={isOne ? 'None' : 'All accounts'} />
            {accountId !== undefined && !isOwn && <Pill tone="neutral">read-only</Pill>}
          </>
        )
      }
    >
      {page.isNoted && <CustomerNotice />}
      <page.Component key={Object.values(params).join('/')} params={params} />
    </BesideTitle>
  );
}

function Interrupted() {
  const state = useStore(streamState);
  return (
    <div className="interrupted-note" role="status">
      {state.name === 'unreachable' && (
        <Notice tone="bad">
          Not reachable since <LocalTime at={state.since} />. This page keeps trying, and may be out
          of date until then.
        </Notice>
      )}
      {state.name === 'interrupted' && (
        <Notice tone="waiting">
          Live updates are interrupted. They resume automatically. An account can have live updates
          in at most five browsers at once.
        </Notice>
      )}
    </div>
  );
}
