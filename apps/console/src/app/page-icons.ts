import {
  AppWindow,
  BookOpen,
  Braces,
  ChartBar,
  Gauge,
  KeyRound,
  LayoutDashboard,
  type LucideIcon,
  ScrollText,
  Send,
  Users,
  Webhook,
  Zap,
} from 'lucide-react';

/** Icons of the developers' pages, by name. */
export const DEVELOPER_ICONS: Readonly<Record<string, LucideIcon>> = {
  'Receiving guide': BookOpen,
  'API reference': Braces,
};

/** Icons of pages, by path. */
export const PAGE_ICONS: Readonly<Record<string, LucideIcon>> = {
  '/installation': Gauge,
  '/load': ChartBar,
  '/overview': LayoutDashboard,
  '/accounts': Users,
  '/deliveries': Send,
  '/events': Zap,
  '/subscriptions': Webhook,
  '/applications': AppWindow,
  '/audit': ScrollText,
  '/access': KeyRound,
};
