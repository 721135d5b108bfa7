import type { Page, Scope, Sealed } from '#libs/kernel';
import { covers } from '../../event-kinds/domain/matching.js';
import { DELETED, HEALTHY, NEXT, NOW } from './subscription-life.js';
import { type NewWebhook, type SealedKey, Webhook, type WebhookRevision } from './webhook.js';
import {
  type WebhookFilter,
  type WebhookKey,
  type WebhookLevel,
  WebhooksRepository,
} from './webhooks.repository.js';

const MAX_RETIRED_SECRETS = 10;

/** Subscriptions in memory, ids from 1. */
export class FakeWebhooksRepository extends WebhooksRepository {
  readonly all: Webhook[] = [];
  /** The ids that were locked, in order. */
  readonly locked: string[] = [];

  override find(
    key: Omit<WebhookKey, 'accountId'> & { accountId: Scope },
    { lock } = { lock: false },
  ): Promise<Webhook | undefined> {
    const { id, applicationId } = key;
    if (lock) this.locked.push(id);
    const scope = applicationId === undefined ? 'all' : { applicationId };
    const accountId = key.accountId ?? this.all[Number(id) - 1]?.accountId ?? '';
    return Promise.resolve(this.matching({ accountId, scope }).find((one) => one.id === id));
  }

  override list(filter: WebhookFilter, { after = '0', limit }: Page): Promise<Webhook[]> {
    const later = this.matching(filter).filter(({ id }) => Number(id) > Number(after));
    return Promise.resolve(later.slice(0, limit));
  }

  override count({ accountId, applicationId }: WebhookLevel): Promise<number> {
    const scope = applicationId === undefined ? 'account' : { applicationId };
    return Promise.resolve(this.matching({ accountId, scope }).length);
  }

  override add(
    { accountId, applicationId }: WebhookLevel,
    webhook: NewWebhook & SealedKey,
  ): Promise<string> {
    const id = String(this.all.length + 1);
    const now = new Date();
    const generated = {
      ...{ id, accountId, applicationId: applicationId ?? null },
      ...{ targetVersion: 1, generation: 1, version: 1 },
      ...{ disabledReason: null, disabledAt: null, retiredSecrets: [], holdUntil: null },
      ...{ paused: false, backlog: false, cancelling: false, closedAt: null, ...HEALTHY },
      ...{ pacedUntil: null, inFlight: null, paceWaits: false },
      ...{ createdAt: now, updatedAt: now, deletedAt: null },
    };
    this.all.push(Object.assign(new Webhook(), webhook, generated));
    return Promise.resolve(id);
  }

  override revise(id: string, revision: WebhookRevision): Promise<void> {
    this.assign(this.all[Number(id) - 1]!, { ...revision, version: NEXT, updatedAt: NOW });
    return Promise.resolve();
  }

  override replaceKey(
    id: string,
    key: SealedKey,
    { overlapHours, except }: { overlapHours: number; except: readonly Sealed[] },
  ): Promise<void> {
    const webhook = this.all[Number(id) - 1]!;
    const until = new Date(Date.now() + overlapHours * 3_600_000).toISOString();
    const retired = [{ secret: webhook.secret, until }, ...webhook.retiredSecrets]
      .slice(0, MAX_RETIRED_SECRETS)
      .filter((one) => Date.parse(one.until) > Date.now() && !except.includes(one.secret));
    Object.assign(webhook, key, { retiredSecrets: retired });
    return Promise.resolve();
  }

  override remove(
    which: { id: string } | { applicationId: string },
  ): Promise<Pick<Webhook, 'id' | 'accountId'>[]> {
    const removed = this.all.filter(
      (webhook) =>
        webhook.deletedAt === null &&
        ('id' in which ? webhook.id === which.id : webhook.applicationId === which.applicationId),
    );
    for (const webhook of removed) this.assign(webhook, DELETED);
    return Promise.resolve(removed.map(({ id, accountId }) => ({ id, accountId })));
  }

  private matching({ accountId, scope, event, resource, enabled }: WebhookFilter): Webhook[] {
    return this.all.filter(
      (webhook) =>
        webhook.accountId === accountId &&
        webhook.deletedAt === null &&
        (scope !== 'account' || webhook.applicationId === null) &&
        (typeof scope !== 'object' || webhook.applicationId === scope.applicationId) &&
        (event === undefined || webhook.event === event) &&
        (enabled === undefined || webhook.enabled === enabled) &&
        (resource === undefined || covers(webhook.resource, resource)),
    );
  }

  private assign(webhook: Webhook, values: Partial<Record<keyof Webhook, unknown>>): void {
    const before = Object.fromEntries(Object.entries(webhook));
    const entries = Object.entries(values).map(([name, value]) => {
      if (value === NOW) return [name, new Date()];
      return [name, value === NEXT ? Number(before[name]) + 1 : value];
    });
    Object.assign(webhook, Object.fromEntries(entries));
  }
}
