import { type ComponentProps, type ComponentType, createElement, lazy, useState } from 'react';
import type { Resource } from './resource-ids.js';
import { isOperator, type Session } from './session-state.js';

/** A page of the console. Its file is loaded when the page is first opened. */
export interface PageEntry {
  /** Below `/console`, with parameters as `:id`. */
  path: string;
  /** The name in the navigation and the palette. A page without one is reached by links. */
  name?: string;
  /**
   * The palette's text for opening the page, which creates something. A session that may only read gets a sentence instead of
   * the page.
   */
  action?: string;
  /** Whether only operators have the page. */
  isForOperators?: true;
  /** The type of resource that it shows, with `:id` in the path: the palette opens a pasted id there. */
  shows?: Resource;
  /**
   * Whether operators pick the account that it shows: `one` account, or also `any`. The page calls
   * `useAccountShown`.
   */
  byAccount?: 'any' | 'one';
  /** Whether operators' navigation and palette leave it out: it needs an account, or makes something of one's own. */
  ofOwn?: true;
  /** Whether the audit notes what operators read there of other accounts. */
  isNoted?: true;
  Component: ComponentType<{ params: Record<string, string> }>;
}

type Component = PageEntry['Component'];

let Overview: Component | undefined;

/** Preloads the pages that most users open first. */
export async function loadOverview(): Promise<{ default: Component }> {
  Overview = (await import('../pages/overview/overview-page.js')).default;
  return { default: Overview };
}

const LazyOverview = lazy(loadOverview);

/** React shows a skeleton for at least 300 ms when it waits for a file, even one that is already loaded. */
function OverviewPage(props: ComponentProps<Component>) {
  const [Page] = useState(() => Overview ?? LazyOverview);
  return createElement(Page, props);
}

const developmentPages: PageEntry[] = import.meta.env.DEV
  ? [
      {
        path: '/components',
        name: 'Components',
        Component: lazy(() => import('../pages/components/components-page.js')),
      },
    ]
  : [];

/** All pages, in navigation order. `/console/` opens the first one that the user has. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/installation',
    name: 'Installation',
    isForOperators: true,
    Component: lazy(() => import('../pages/installation/installation-page.js')),
  },
  {
    path: '/load',
    name: 'Load',
    isForOperators: true,
    Component: lazy(() => import('../pages/load/load-page.js')),
  },
  {
    path: '/accounts',
    name: 'Accounts',
    isForOperators: true,
    Component: lazy(() => import('../pages/accounts/accounts-page.js')),
  },
  {
    path: '/accounts/:id',
    isForOperators: true,
    shows: 'users',
    Component: lazy(() => import('../pages/account/account-page.js')),
  },
  {
    path: '/overview',
    name: 'Overview',
    byAccount: 'one',
    Component: OverviewPage,
  },
  {
    path: '/deliveries',
    name: 'Deliveries',
    byAccount: 'any',
    Component: lazy(() => import('../pages/deliveries/deliveries-page.js')),
  },
  {
    path: '/deliveries/:id',
    shows: 'deliveries',
    Component: lazy(() => import('../pages/delivery/delivery-page.js')),
  },
  {
    path: '/events',
    name: 'Events',
    byAccount: 'any',
    Component: lazy(() => import('../pages/events/events-page.js')),
  },
  {
    path: '/events/:id',
    shows: 'events',
    Component: lazy(() => import('../pages/event/event-page.js')),
  },
  {
    path: '/subscriptions',
    name: 'Subscriptions',
    byAccount: 'one',
    isNoted: true,
    Component: lazy(() => import('../pages/subscriptions/subscriptions-page.js')),
  },
  {
    path: '/subscriptions/new',
    action: 'New subscription',
    ofOwn: true,
    Component: lazy(() => import('../pages/subscription/new-subscription-page.js')),
  },
  {
    path: '/subscriptions/:id',
    shows: 'webhooks',
    ofOwn: true,
    isNoted: true,
    Component: lazy(() => import('../pages/subscription/subscription-page.js')),
  },
  {
    path: '/applications',
    name: 'Applications',
    byAccount: 'one',
    isNoted: true,
    Component: lazy(() => import('../pages/applications/applications-page.js')),
  },
  {
    path: '/applications/new',
    action: 'New application',
    ofOwn: true,
    Component: lazy(() => import('../pages/application/new-application-page.js')),
  },
  {
    path: '/applications/:id',
    shows: 'applications',
    ofOwn: true,
    isNoted: true,
    Component: lazy(() => import('../pages/application/application-page.js')),
  },
  {
    path: '/audit',
    name: 'Audit log',
    byAccount: 'any',
    Component: lazy(() => import('../pages/audit/audit-page.js')),
  },
  {
    path: '/access',
    name: 'Access',
    Component: lazy(() => import('../pages/access/access-page.js')),
  },
  ...developmentPages,
];

/** The pages of a role. */
export function pagesFor(role: Session['role']): PageEntry[] {
  return PAGES.filter((page) => page.isForOperators === undefined || isOperator(role));
}
