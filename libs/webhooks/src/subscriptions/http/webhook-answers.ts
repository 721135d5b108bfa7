import type { Request, Response } from 'express';
import { among, answerJson, answerList, entityTag, hrefBuilder, QueryReader } from '#libs/http';
import type { Page } from '#libs/kernel';
import { ALL_RESOURCES, EVENT_KINDS, RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import type { RecentActivity, RecentActivityReader } from '../domain/recent-activity.js';
import type { Webhook } from '../domain/webhook.js';
import type { WebhooksService } from '../domain/webhooks.service.js';
import { type ShownWebhook, WebhookView } from './webhook.view.js';

/** Answers with the subscriptions that match the query parameters. */
export async function answerWebhooks(
  request: Request,
  response: Response,
  from: { webhooks: WebhooksService; activity: RecentActivityReader },
  where: { accountId: string; applicationId?: string },
): Promise<void> {
  const { accountId, applicationId } = where;
  const query = new QueryReader(request);
  const filter = {
    event: query.filter('event', among(EVENT_KINDS)),
    resource: query.filter('resource', among([...RESOURCES, ALL_RESOURCES])),
    enabled: query.flag('enabled'),
  };
  // An application's list has only one scope, so `scope` is an unknown parameter there.
  const scope =
    applicationId === undefined ? (query.choice('scope', ['all']) ?? 'account') : { applicationId };
  const hasActivity = query.choice('include', ['activity']) !== undefined;
  const page = query.optionalPage();
  query.done();
  const read = await from.webhooks.list({ accountId, scope, ...filter });
  const readWithActivity = async (of: Page): Promise<ShownWebhook[]> => {
    const webhooks = await read(of);
    const activities = await from.activity.of(
      accountId,
      webhooks.map(({ id }) => id),
    );
    return webhooks.map((webhook) => withActivity(webhook, activities.get(webhook.id)));
  };
  await answerList(request, response, page, hasActivity ? readWithActivity : read, WebhookView);
}

/** Answers with a subscription and the entity tag of its version. */
export function answerWebhook(request: Request, response: Response, webhook: Webhook): void {
  response.setHeader('ETag', entityTag(webhook.version));
  answerJson(response, WebhookView.text(webhook, hrefBuilder(request)));
}

function withActivity(webhook: Webhook, activity: RecentActivity | undefined): ShownWebhook {
  return activity ? Object.assign(webhook, { activity }) : webhook;
}
