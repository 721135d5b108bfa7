import { Suspense, useEffect } from 'react';
import { Link, Redirect, Route, Switch, useLocation } from 'wouter';
import { Notice } from '../components/notice.js';
import { Page } from '../components/page.js';
import { zoneText } from '../components/time.js';
import { Toasts } from '../components/toast.js';
import { API_URL } from './addresses.js';
import { AccountPicker } from './account-picker.js';
import { useAccountShown } from './account.js';
import { Boundary } from './boundary.js';
import { openPalette, Palette, useCommands } from './palette.js';
import { type PageEntry, pagesFor } from './pages.js';
import { logOut, useUser } from './session.js';
import { useStore } from './store.js';
import { openStream, streamState } from './stream.js';

const ROLES = { account: 'account', platform: 'platform' } as const;
const STREAM = { connecting: 'Connecting …', live: 'Live', interrupted: 'Interrupted' } as const;

/** What surrounds every page: navigation, palette, toasts. */
export function Shell() {
  const { username, role } = useUser();
  const pages = pagesFor(role);
  // What the palette and the navigation offer.
  const offered = pages.filter(({ ofOwn }) => !ofOwn || role === 'account');
  const { accountId } = useAccountShown();
  const [location, navigate] = useLocation();
  useEffect(openStream, []);
  useCommands([
    ...offered.flatMap(({ path, name }) =>
      name === undefined ? [] : [{ name, group: 'Pages', run: () => navigate(path) }],
    ),
    ...offered.flatMap(({ path, action }) =>
      action === undefined ? [] : [{ name: action, group: 'Actions', run: () => navigate(path) }],
    ),
    {
      name: 'API description',
      group: 'Pages',
      run: () => window.location.assign(`${API_URL}/docs`),
    },
    { name: 'Log out', group: 'Actions', run: () => void logOut() },
  ]);
  return (
    <>
      <a className="skip" href="#main">
        Skip to the content
      </a>
      <header className="bar">
        <nav aria-label="Pages">
          {offered.map(
            ({ path, name, byAccount }) =>
              name !== undefined && (
                <Link
                  key={path}
                  href={
                    byAccount && accountId !== undefined
                      ? `${path}?accountId=${encodeURIComponent(accountId)}`
                      : path
                  }
                  aria-current={location === path ? 'page' : undefined}
                >
                  {name}
                </Link>
              ),
          )}
        </nav>
        <StreamStatus />
        <button type="button" onClick={openPalette} aria-keyshortcuts="Control+K Meta+K">
          Find <kbd>Ctrl K</kbd>
        </button>
        <span className="who">
          <bdi title={username}>{username}</bdi> <span className="role">{ROLES[role]}</span>
        </span>
        <button type="button" onClick={() => void logOut()}>
          Log out
        </button>
      </header>
      <main id="main" tabIndex={-1}>
        <Boundary key={location}>
          <Suspense fallback={null}>
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
      <footer>
        <a href={`${API_URL}/docs`}>API description</a>{' '}
        <span className="quiet">Times are in {zoneText()}.</span>
      </footer>
      <Palette pages={pages} />
      <Toasts />
    </>
  );
}

/** Another id is another page, with its own state. */
function Shown({ page, params }: { page: PageEntry; params: Record<string, string> }) {
  const { role } = useUser();
  return (
    <>
      {page.byAccount && role === 'platform' && <AccountPicker />}
      <page.Component key={Object.values(params).join('/')} params={params} />
    </>
  );
}

function StreamStatus() {
  const state = useStore(streamState);
  return (
    <span className={`stream ${state}`}>
      <span role="status">{STREAM[state]}</span>
      {state === 'interrupted' && (
        <Notice tone="waiting">Live updates are interrupted. They resume by themselves.</Notice>
      )}
    </span>
  );
}
