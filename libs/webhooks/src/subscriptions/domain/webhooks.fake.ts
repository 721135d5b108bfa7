import { createSecretKey } from 'node:crypto';
import { SecretBox } from '#libs/kernel';
import { applicationsOnFakes } from '../../../../applications/src/domain/applications.fake.js';
import { TargetPolicy } from './target-url.js';
import { DEFAULTS, type WebhookContent } from './webhook.js';
import { WebhookSecrets } from './webhook-secrets.js';
import { FakeActivity } from '../../activity/domain/activity.fake.js';
import { FakeWebhooksRepository } from './webhooks.repository.fake.js';
import { WebhooksService } from './webhooks.service.js';

/** Refuses the listed addresses and ports. */
class FakeTargetPolicy extends TargetPolicy {
  readonly denied = new Set<string>();

  override allowsPort(port: number): boolean {
    return !this.denied.has(String(port));
  }

  override allowsAddress(address: string): boolean {
    return !this.denied.has(address);
  }
}

/** The webhooks service on fakes. */
export function webhooksOnFakes() {
  const { applications, transactions, audit } = applicationsOnFakes();
  const repository = new FakeWebhooksRepository();
  const key = { id: 'k1', key: createSecretKey(Buffer.alloc(32)) };
  const secrets = new WebhookSecrets(new SecretBox([key]));
  const policy = new FakeTargetPolicy();
  const pace = { maxConcurrent: 50 };
  const activity = new FakeActivity();
  const webhooks = new WebhooksService(
    repository,
    applications,
    secrets,
    transactions,
    audit,
    policy,
    pace,
    activity,
  );
  return {
    webhooks,
    activity,
    applications,
    repository,
    secrets,
    policy,
    pace,
    transactions,
    audit,
  };
}

/** The content of a subscription. */
export const aContent = (fields: Partial<WebhookContent> = {}): WebhookContent => ({
  ...DEFAULTS,
  event: 'cdrCreated',
  resource: 'all',
  targetUrl: 'https://user:pass@target.example/',
  ...fields,
});
