import { DomainError } from '#libs/kernel';

/** Specification, section 8: as many at account level, and as many for each application. */
export const MAX_WEBHOOKS = 10;

/** The account, or the application, has as many subscriptions as it may. */
export class WebhookLimitReached extends DomainError {
  constructor(level: 'account' | 'application') {
    super(
      'forbidden',
      'webhook_limit_reached',
      level === 'account'
        ? `The account has ${MAX_WEBHOOKS} account-level webhook subscriptions, which is the limit.`
        : `The application has ${MAX_WEBHOOKS} webhook subscriptions, which is the limit.`,
    );
  }
}
