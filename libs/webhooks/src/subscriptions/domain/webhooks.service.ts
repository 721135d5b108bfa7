import { Injectable } from '@nestjs/common';
import { ApplicationsService } from '#libs/applications/domain';
import type { Role } from '#libs/identity/domain';
import {
  type AuditEntry,
  AuditTrail,
  bidiFaults,
  isNumericId,
  NotFoundError,
  type Page,
  refuse,
  type Scope,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import { Activity } from '../../activity/domain/activity.js';
import {
  ALL_RESOURCES,
  isResource,
  refuseNarrowNotice,
} from '../../event-kinds/domain/event-kinds.js';
import { newSigningKey, type Signature } from './signing-key.js';
import { maskProblem, TargetPolicy, targetProblem } from './target-url.js';
import {
  DEFAULTS,
  type GivenWebhook,
  MAX_WEBHOOKS,
  PaceLimits,
  concurrencyProblem,
  refuseNoticesOfAll,
  type Webhook,
  type WebhookChanges,
  type WebhookContent,
  WebhookLimitReachedError,
  type WebhookRevision,
} from './webhook.js';
import { refuseMaskedHeaders, refuseTwoAuthorizations } from './webhook-headers.js';
import { WebhookSecrets } from './webhook-secrets.js';
import {
  type WebhookFilter,
  type WebhookKey,
  type WebhookLevel,
  WebhooksRepository,
} from './webhooks.repository.js';

/** How long a replaced key keeps signing. */
const KEY_OVERLAP_HOURS = 24;

/** Throws unless the stored version matches the caller's. */
type VersionCheck = (version: number) => void;

/** The key with which a receiver verifies signatures: the shared secret or the public key. */
export type VerificationKey = { secret: string } | { publicKey: string };

/** The accounts' webhook subscriptions. For a caller, other accounts' do not exist. */
@Injectable()
export class WebhooksService {
  constructor(
    private readonly webhooks: WebhooksRepository,
    private readonly applications: ApplicationsService,
    private readonly secrets: WebhookSecrets,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
    private readonly targets: TargetPolicy,
    private readonly pace: PaceLimits,
    private readonly activity: Activity,
  ) {}

  /**
   * Returns a function that reads pages in ascending order of id.
   * @throws NotFoundError if the application does not belong to the account
   */
  async list(filter: WebhookFilter): Promise<(page: Page) => Promise<Webhook[]>> {
    const { accountId, scope, resource = ALL_RESOURCES } = filter;
    if (typeof scope === 'object') await this.applications.get(accountId, scope.applicationId);
    // Subscriptions to all resources cover even those that do not exist.
    const isKnown = resource === ALL_RESOURCES || isResource(resource);
    return async (page) => (isKnown ? this.webhooks.list(filter, page) : []);
  }

  /** All subscriptions that could receive an event of the account or the application. */
  async audienceOf({ accountId, applicationId }: WebhookLevel): Promise<Webhook[]> {
    const page = { limit: MAX_WEBHOOKS };
    const ofAccount = await this.webhooks.list({ accountId, scope: 'account' }, page);
    if (applicationId === undefined) return ofAccount;
    const scope = { applicationId };
    return [...ofAccount, ...(await this.webhooks.list({ accountId, scope }, page))];
  }

  /**
   * @param applicationId if given, finds only subscriptions of this application
   * @throws NotFoundError
   */
  get(accountId: string, id: string, applicationId?: string): Promise<Webhook> {
    return this.required({ accountId, id, applicationId }, { lock: false });
  }

  async lookUp(scope: Scope, id: string): Promise<Webhook | undefined> {
    return isNumericId(id) ? this.webhooks.find({ accountId: scope, id }) : undefined;
  }

  /**
   * The request's validators have checked the target and the headers.
   * @param role of the account
   * @returns the id of the new subscription
   * @throws ValidationError, NotFoundError for the application, WebhookLimitReachedError
   */
  async create(level: WebhookLevel, given: GivenWebhook, role: Role = 'account'): Promise<string> {
    const content: WebhookContent = { ...DEFAULTS, ...given };
    const { targetUrl, headers, signature, ...others } = content;
    refuseTwoAuthorizations(targetUrl, headers, 'headers');
    refuseNarrowNotice(content, 'resource');
    const { accountId, applicationId } = level;
    refuseNoticesOfAll({ ...content, applicationId: applicationId ?? null }, role, 'accounts');
    const webhook = {
      ...others,
      filterId: content.filter?.id ?? null,
      ...this.secrets.sealTarget(accountId, targetUrl),
      headers: this.secrets.sealHeaders({ accountId, headers: null }, headers),
      ...this.newKey(accountId, signature).stored,
    };
    return this.transactions.run(async () => {
      if (applicationId !== undefined) await this.applications.getLocked(accountId, applicationId);
      if ((await this.webhooks.count(level)) >= MAX_WEBHOOKS) {
        throw new WebhookLimitReachedError(applicationId === undefined ? 'account' : 'application');
      }
      const id = await this.webhooks.add(level, webhook);
      await this.audit.record({ action: 'webhook.create', resourceId: id, accountId });
      return id;
    });
  }

  /**
   * Applies the changes; writes nothing if no value differs. A different signature algorithm creates
   * a new key, and the old key keeps signing beside it for 24 h.
   * @param role of the account
   * @returns its version then
   * @throws NotFoundError, PreconditionFailedError, ValidationError
   */
  async update(
    key: WebhookKey,
    changes: WebhookChanges,
    check: VersionCheck,
    role: Role = 'account',
  ): Promise<number> {
    const { version, isChanged } = await this.transactions.run(async () => {
      const webhook = await this.find(key, { lock: true });
      const { targetUrl, headers, signature } = changes;
      const newTarget =
        targetUrl !== undefined && !(webhook && this.secrets.hasTarget(webhook, targetUrl));
      // Checked before 404 and 412 because the answer does not depend on stored data. The present
      // target is always accepted, even if the operator has since denied its network.
      if (newTarget) refuse('targetUrl', targetProblem(targetUrl, this.targets));
      if (!webhook) throw new NotFoundError('webhook subscription');
      check(webhook.version);
      if (newTarget) refuse('targetUrl', maskProblem(targetUrl));
      if (headers !== undefined) refuseMaskedHeaders(headers, webhook.headers);
      refuseTwoAuthorizations(
        targetUrl ?? webhook.targetUrl,
        headers === undefined ? webhook.headers : headers,
        headers === undefined ? 'targetUrl' : 'headers',
      );
      refuseNarrowNotice(
        { event: changes.event ?? webhook.event, resource: changes.resource ?? webhook.resource },
        changes.resource === undefined ? 'event' : 'resource',
      );
      const { event = webhook.event, accounts = webhook.accounts } = changes;
      if (changes.event !== undefined || changes.accounts !== undefined) {
        refuseNoticesOfAll(
          { event, accounts, applicationId: webhook.applicationId },
          role,
          changes.accounts === undefined ? 'event' : 'accounts',
        );
      }
      const revision = webhook.revisedBy(changes, this.secrets);
      // The present value is always accepted, even if the limit has since been lowered.
      const { maxConcurrent } = revision;
      refuse('maxConcurrent', concurrencyProblem(maxConcurrent ?? 0, this.pace.maxConcurrent));
      const faults = bidiFaults({ name: revision.name, targetUrl: newTarget ? targetUrl : null });
      if (faults.length > 0) throw new ValidationError(faults);
      const newKey = signature !== undefined && signature !== webhook.signature;
      if (newKey) await this.replaceKey(webhook, signature);
      if (!newKey && Object.keys(revision).length === 0) {
        return { version: webhook.version, isChanged: false };
      }
      await this.webhooks.revise(webhook.id, revision);
      const { action, fields } = auditEntryOf(changes, revision);
      await this.audit.record({
        action,
        ...(fields && { fields: newKey ? [...fields, 'signature'] : fields }),
        resourceId: webhook.id,
        accountId: webhook.accountId,
      });
      return { version: webhook.version + 1, isChanged: true };
    });
    if (isChanged) this.activity.report(key.accountId, { kind: 'webhook', id: key.id });
    return version;
  }

  /** @throws NotFoundError, PreconditionFailedError */
  async delete(key: WebhookKey, check: VersionCheck): Promise<void> {
    await this.transactions.run(async () => {
      const webhook = await this.required(key, { lock: true });
      check(webhook.version);
      await this.remove({ id: webhook.id });
    });
  }

  /** Deletes the subscriptions of an application that is being deleted. */
  async deleteOf(applicationId: string): Promise<void> {
    await this.remove({ applicationId });
  }

  /** @throws NotFoundError, UnreadableSecretError */
  async verificationKey(accountId: string, id: string): Promise<VerificationKey> {
    const { publicKey, secret } = await this.get(accountId, id);
    if (publicKey !== null) return { publicKey };
    return { secret: this.secrets.open(accountId, 'secret', secret) };
  }

  /**
   * Replaces the key; the old one keeps signing beside the new one for 24 h.
   * @throws NotFoundError
   */
  async rotateKey(accountId: string, id: string): Promise<VerificationKey> {
    return this.transactions.run(async () => {
      const webhook = await this.required({ accountId, id }, { lock: true });
      await this.audit.record({
        action: 'webhook.rotate_secret',
        resourceId: webhook.id,
        accountId,
      });
      return this.replaceKey(webhook, webhook.signature);
    });
  }

  private async replaceKey(webhook: Webhook, signature: Signature): Promise<VerificationKey> {
    const { id, accountId, secret, retiredSecrets } = webhook;
    const { stored, shown } = this.newKey(accountId, signature);
    const before = [secret, ...retiredSecrets.map((retired) => retired.secret)];
    await this.webhooks.replaceKey(id, stored, {
      overlapHours: KEY_OVERLAP_HOURS,
      // Unreadable secrets cannot sign. Dropping them now repairs deliveries as soon as a key is replaced.
      except: this.secrets.unreadable(accountId, before),
    });
    return shown;
  }

  private newKey(accountId: string, signature: Signature) {
    const { secret, publicKey } = newSigningKey(signature);
    const shown: VerificationKey = publicKey === null ? { secret } : { publicKey };
    return { stored: { secret: this.secrets.seal(accountId, 'secret', secret), publicKey }, shown };
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

  private async required(key: WebhookKey, options: { lock: boolean }): Promise<Webhook> {
    const found = await this.find(key, options);
    if (!found) throw new NotFoundError('webhook subscription');
    return found;
  }

  private async find(key: WebhookKey, options: { lock: boolean }): Promise<Webhook | undefined> {
    const { id, applicationId } = key;
    const wellFormed =
      isNumericId(id) && (applicationId === undefined || isNumericId(applicationId));
    return wellFormed ? this.webhooks.find(key, options) : undefined;
  }
}

/** The audit entry of a revision. It names the fields that the client changed, not the consequences. */
function auditEntryOf(
  changes: WebhookChanges,
  revision: WebhookRevision,
): Pick<AuditEntry, 'action' | 'fields'> {
  // Only pause and resume set this field; request bodies cannot.
  if (revision.paused !== undefined) {
    return { action: revision.paused ? 'webhook.pause' : 'webhook.resume' };
  }
  const fields = Object.keys(changes).filter((name) => name in revision);
  return { action: 'webhook.update', fields };
}
