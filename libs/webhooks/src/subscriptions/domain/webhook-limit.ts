import { DomainError } from '#libs/kernel';

/** Limit at account level, and for each application (specification, section 8). */
export const MAX_WEBHOOKS = 10;

/** The account or the application has reached its limit of subscriptions. */
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
