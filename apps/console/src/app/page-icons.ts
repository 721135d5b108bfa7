import {
  AppWindow,
  BookOpen,
  Braces,
  Gauge,
  LayoutDashboard,
  type LucideIcon,
  ScrollText,
  Send,
  Users,
  Webhook,
  Zap,
} from 'lucide-react';

/** Of the pages for developers, by name. */
export const DEVELOPER_ICONS: Readonly<Record<string, LucideIcon>> = {
  'Receiving guide': BookOpen,
  'API reference': Braces,
};

/** By path. */
export const PAGE_ICONS: Readonly<Record<string, LucideIcon>> = {
  '/installation': Gauge,
  '/overview': LayoutDashboard,
  '/accounts': Users,
  '/deliveries': Send,
  '/events': Zap,
  '/subscriptions': Webhook,
  '/applications': AppWindow,
  '/audit': ScrollText,
};
