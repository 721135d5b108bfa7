import { Inject, Injectable } from '@nestjs/common';
import { ApplicationsService } from '#libs/applications';
import {
  type AuditEntry,
  AuditTrail,
  CONFIG,
  type Config,
  isNumericId,
  NotFoundError,
  type Page,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import { ALL_RESOURCES, isEventKind, isResource } from './event-kinds.js';
import { hasTargetHost, hasTargetPort, isMaskedTargetUrl } from './target-url.js';
import type { Webhook, WebhookChanges, WebhookContent, WebhookRevision } from './webhook.js';
import { MAX_WEBHOOKS, WebhookLimitReached } from './webhook-limit.js';
import { newWebhookSecret } from './webhook-secret.js';
import {
  type WebhookFilter,
  type WebhookKey,
  type WebhookLevel,
  WebhooksRepository,
} from './webhooks.repository.js';

/** How long a secret goes on signing after it was replaced. */
const SECRET_OVERLAP_HOURS = 24;

/** A filter as it was asked for: a value that nothing has finds nothing. */
export type WebhookQuery = Omit<WebhookFilter, 'event' | 'resource'> & {
  event?: string | undefined;
  resource?: string | undefined;
};

/** Throws unless the stored version is the one that the caller knows. */
type VersionCheck = (version: number) => void;

/** The webhook subscriptions of the accounts. Another account's does not exist for a caller. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly applications: ApplicationsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /**
   * The pages of a list, in ascending order of id.
   * @throws NotFoundError when the application is not the account's
   */
  async list(query: WebhookQuery): Promise<(page: Page) => Promise<Webhook[]>> {
    const { event, resource, ...others } = query;
    if (typeof others.scope === 'object') {
      await this.applications.get(others.accountId, others.scope.applicationId);
    }
    if (event !== undefined && !isEventKind(event)) return nothing;
    if (resource !== undefined && !isResource(resource) && resource !== ALL_RESOURCES) {
      return nothing;
    }
    return (page) => this.webhooks.list({ ...others, event, resource }, page);
  }

  /** Those that an event of the account, or of the application, can go to at all. */
  async audienceOf({ accountId, applicationId }: WebhookLevel): Promise<Webhook[]> {
    const page = { limit: MAX_WEBHOOKS };
    const ofAccount = await this.webhooks.list({ accountId, scope: 'account' }, page);
    if (applicationId === undefined) return ofAccount;
    const scope = { applicationId };
    return [...ofAccount, ...(await this.webhooks.list({ accountId, scope }, page))];
  }

  /**
   * @param applicationId only a subscription of that application
   * @throws NotFoundError
   */
  get(accountId: string, id: string, applicationId?: string): Promise<Webhook> {
    return this.required({ accountId, id, applicationId }, { hold: false });
  }

  /**
   * @returns the id of the new subscription
   * @throws ValidationError, NotFoundError for the application, WebhookLimitReached
   */
  async create(level: WebhookLevel, content: WebhookContent): Promise<string> {
    this.refuseTarget(content.targetUrl);
    refuseMask(content.targetUrl);
    const { accountId, applicationId } = level;
    return this.transactions.run(async () => {
      if (applicationId !== undefined) await this.applications.hold(accountId, applicationId);
      if ((await this.webhooks.count(level)) >= MAX_WEBHOOKS) {
        throw new WebhookLimitReached(applicationId === undefined ? 'account' : 'application');
      }
      const id = await this.webhooks.add(level, content, newWebhookSecret());
      await this.audit.record({ action: 'webhook.create', resourceId: id, accountId });
      return id;
    });
  }

  /**
   * Changes what the changes name. When they change nothing, nothing is written.
   * @throws NotFoundError, PreconditionFailedError, ValidationError
   */
  async update(key: WebhookKey, changes: WebhookChanges, check: VersionCheck): Promise<void> {
    await this.transactions.run(async () => {
      const webhook = await this.find(key, { hold: true });
      const { targetUrl } = changes;
      const newTarget = targetUrl !== undefined && webhook?.hasTarget(targetUrl) !== true;
      // Before 404 and 412: a target that is refused is so whatever is stored. The present one
      // may come back, though, even if the operator has since taken its network away.
      if (newTarget) this.refuseTarget(targetUrl);
      if (!webhook) throw new NotFoundError('webhook subscription');
      check(webhook.version);
      if (newTarget) refuseMask(targetUrl);
      const revision = webhook.revisedBy(changes);
      if (Object.keys(revision).length === 0) return;
      await this.webhooks.revise(webhook.id, revision);
      const { id, accountId } = webhook;
      await this.audit.record({ ...eventOf(changes, revision), resourceId: id, accountId });
    });
  }

  /** @throws NotFoundError, PreconditionFailedError */
  async delete(key: WebhookKey, check: VersionCheck): Promise<void> {
    await this.transactions.run(async () => {
      const webhook = await this.required(key, { hold: true });
      check(webhook.version);
      await this.remove({ id: webhook.id });
    });
  }

  /** Deletes the subscriptions of an application that is being deleted. */
  async deleteOf(applicationId: string): Promise<void> {
    await this.remove({ applicationId });
  }

  /**
   * Replaces the secret; the old one goes on signing beside the new one for 24 h.
   * @returns the new secret
   * @throws NotFoundError
   */
  async rotateSecret(accountId: string, id: string): Promise<string> {
    const secret = newWebhookSecret();
    await this.transactions.run(async () => {
      const webhook = await this.required({ accountId, id }, { hold: true });
      await this.webhooks.replaceSecret(webhook.id, secret, SECRET_OVERLAP_HOURS);
      await this.audit.record({
        action: 'webhook.rotate_secret',
        resourceId: webhook.id,
        accountId,
      });
    });
    return secret;
  }

  private async remove(which: { id: string } | { applicationId: string }): Promise<void> {
    const removed = await this.webhooks.remove(which);
    await this.audit.record(
      ...removed.map(({ id, accountId }) => ({
        action: 'webhook.delete' as const,
        resourceId: id,
        accountId,
      })),
    );
  }

  private async required(key: WebhookKey, options: { hold: boolean }): Promise<Webhook> {
    const found = await this.find(key, options);
    if (!found) throw new NotFoundError('webhook subscription');
    return found;
  }

  private async find(key: WebhookKey, options: { hold: boolean }): Promise<Webhook | undefined> {
    const { id, applicationId } = key;
    const wellFormed =
      isNumericId(id) && (applicationId === undefined || isNumericId(applicationId));
    return wellFormed ? this.webhooks.find(key, options) : undefined;
  }

  private refuseTarget(url: string): void {
    const mayHavePort = hasTargetPort(url, this.config);
    if (mayHavePort && hasTargetHost(url, this.config)) return;
    const fault = mayHavePort ? PRIVATE_TARGET : RESERVED_PORT;
    throw ValidationError.of('targetUrl', 'not_allowed', `targetUrl ${fault}.`);
  }
}

/** What is wrong with a target whose port is another service's, in words. */
export const RESERVED_PORT =
  'must not have a port below 1024 other than 80, 443 and those that this installation allows';
/** What is wrong with a target whose address is not public, in words. */
export const PRIVATE_TARGET = 'must not name an address that is not public';
/** What is wrong with a target in the form in which another one is shown, in words. */
export const MASKED_TARGET =
  'must carry its user information, for which *** only stands when shown';

/** What a revision is to those who read of it; what follows from a change is no field of its own. */
function eventOf(
  changes: WebhookChanges,
  revision: WebhookRevision,
): Pick<AuditEntry, 'action' | 'fields'> {
  // By pausing and resuming alone: in a body the field is not writable.
  if (revision.paused !== undefined) {
    return { action: revision.paused ? 'webhook.pause' : 'webhook.resume' };
  }
  const fields = Object.keys(changes).filter((name) => name in revision);
  return { action: 'webhook.update', fields };
}

const nothing = (): Promise<Webhook[]> => Promise.resolve([]);

function refuseMask(url: string): void {
  if (!isMaskedTargetUrl(url)) return;
  throw ValidationError.of('targetUrl', 'format', `targetUrl ${MASKED_TARGET}.`);
}
