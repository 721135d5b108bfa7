import type { Session } from '../../app/session-state.js';
import type { AuditEntry } from './audit.queries.js';

/** Labels of the audit's actions. */
export const ACTIONS: Readonly<Record<string, string>> = {
  'webhook.create': 'Subscription created',
  'webhook.update': 'Subscription changed',
  'webhook.delete': 'Subscription deleted',
  'webhook.disable': 'Subscription disabled',
  'webhook.recover': 'Subscription recovered after an outage on our side',
  'webhook.pause': 'Subscription paused',
  'webhook.resume': 'Subscription resumed',
  'webhook.rotate_secret': 'Signing secret replaced',
  'webhook.show': 'Subscription read',
  'application.create': 'Application created',
  'application.update': 'Application changed',
  'application.delete': 'Application deleted',
  'application.import': 'Application imported',
  'application.show': 'Application read',
  'delivery.redeliver': 'Delivery sent again',
  'delivery.send': 'Delivery sent now',
  'delivery.cancel': 'Delivery cancelled',
  'delivery.create': 'Missed event sent',
  'delivery.test': 'Test sent',
  'recovery.create': 'Recovery started',
  'erasure.create': 'Erasure of data started',
  'replay.create': 'Sending in bulk started',
  'replay.cancel': 'Sending in bulk cancelled',
  'session.create': 'Logged in to the console',
  'session.delete': 'Logged out of the console',
  'link.create': 'Link to the console created',
  'credential.create': 'Credential created',
  'credential.delete': 'Credential revoked',
  'user.create': 'Account created',
  'user.import': 'Account imported',
  'user.lock': 'Account locked',
  'user.unlock': 'Account unlocked',
  'user.close': 'Account closed',
  'user.list_applications': 'Applications listed',
  'user.list_webhooks': 'Subscriptions listed',
  'environment.create': 'Environment created',
};

/** Labels of resource types. */
export const RESOURCES: Readonly<Record<string, string>> = {
  webhook: 'subscription',
  application: 'application',
  delivery: 'delivery',
  replay: 'sending in bulk',
  erasure: 'erasure',
  session: 'sessions with credential or link',
  link: 'link',
  credential: 'credential',
  user: 'account',
  environment: 'environment',
};

type Pages = Readonly<Record<string, string>>;
const OF_OPERATORS: Pages = { user: 'accounts', delivery: 'deliveries' };
const PAGES: Readonly<Record<Session['role'], Pages>> = {
  account: { webhook: 'subscriptions', application: 'applications', delivery: 'deliveries' },
  platform: OF_OPERATORS,
  operator: OF_OPERATORS,
  // Has no access to the console.
  reporter: {},
};

/** The page of a resource, if the role has one. */
export function pageOf(role: Session['role'], resource: string, id: string): string | undefined {
  const page = PAGES[role][resource];
  return page === undefined ? undefined : `/${page}/${encodeURIComponent(id)}`;
}

const OTHER_ACTORS: Readonly<Record<string, string>> = {
  cli: 'the command line',
  system: 'the service',
  platform: 'an operator',
};

/** Who made a change. A username may equal another actor's label. */
export function actorOf({ actor, userId }: Pick<AuditEntry, 'actor' | 'userId'>): string {
  return userId === undefined ? (OTHER_ACTORS[actor] ?? actor) : actor;
}
