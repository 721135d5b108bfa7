import {
  AppWindow,
  Gauge,
  LayoutDashboard,
  type LucideIcon,
  ScrollText,
  Send,
  Users,
  Webhook,
  Zap,
} from 'lucide-react';

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
