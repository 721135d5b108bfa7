import { type ComponentProps, type ComponentType, createElement, lazy, useState } from 'react';
import type { Resource } from './resource-ids.js';
import type { Session } from './session-state.js';

/** A page of the console. Its file is loaded when it is first opened. */
export interface PageEntry {
  /** Below `/console`, with parameters as `:id`. */
  path: string;
  /** Its name in the navigation and the palette; a page without one is reached from others. */
  name?: string;
  /** What going there does, for the palette alone. */
  action?: string;
  /** Who has it; everybody unless said. */
  role?: Session['role'];
  /** What it shows one of, with its id as `:id`: the palette opens it by a pasted id. */
  shows?: Resource;
  /** Whether the platform picks there whose data it shows, of `one` account or also of `any`: the page calls `useAccountShown`. */
  byAccount?: 'any' | 'one';
  /** Whether it is of one's own account alone: the platform, which looks at those of others, is not led there. */
  ofOwn?: true;
  Component: ComponentType<{ params: Record<string, string> }>;
}

type Component = PageEntry['Component'];

let Overview: Component | undefined;

/** Loads what most users see first. */
export async function loadOverview(): Promise<{ default: Component }> {
  Overview = (await import('../pages/overview/overview-page.js')).default;
  return { default: Overview };
}

const LazyOverview = lazy(loadOverview);

/** React shows a skeleton for 300 ms when it has to wait for a file, even if the file is there. */
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

/** All pages, in the order of the navigation. A user's first one is where `/console/` leads. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/installation',
    name: 'Installation',
    role: 'platform',
    Component: lazy(() => import('../pages/installation/installation-page.js')),
  },
  {
    path: '/accounts',
    name: 'Accounts',
    role: 'platform',
    Component: lazy(() => import('../pages/accounts/accounts-page.js')),
  },
  {
    path: '/accounts/:id',
    role: 'platform',
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
    ofOwn: true,
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
    Component: lazy(() => import('../pages/subscription/subscription-page.js')),
  },
  {
    path: '/applications',
    name: 'Applications',
    ofOwn: true,
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
    Component: lazy(() => import('../pages/application/application-page.js')),
  },
  {
    path: '/audit',
    name: 'Audit log',
    byAccount: 'any',
    Component: lazy(() => import('../pages/audit/audit-page.js')),
  },
  ...developmentPages,
];

/** The pages that a role has. */
export function pagesFor(role: Session['role']): PageEntry[] {
  return PAGES.filter((page) => page.role === undefined || page.role === role);
}
