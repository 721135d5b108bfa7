import { Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  type Answer,
  answer,
  Href,
  type HrefBuilder,
  Idempotent,
  IfMatch,
  JsonBody,
  listed,
  type Once,
  OPTIONAL_PAGE,
  parameter,
  type Query,
  QueryOf,
  shown,
  type VersionCheck,
} from '#libs/http';
import { OperatorReads, type Principal } from '#libs/identity';
import {
  ACCOUNT_READ,
  accountRead,
  ActAsUser,
  CurrentActor,
  CurrentUser,
} from '#libs/identity/http';
import type { Actor, Page } from '#libs/kernel';
import { ALL_RESOURCES, RESOURCES } from '../../event-kinds/domain/event-kinds.js';
import { eventParameter, resourceValidator } from '../../event-kinds/choices.schema.js';
import { RecentActivityReader } from '../recent-activity.js';
import { RecentLossesReader } from '../recent-losses.js';
import type { Webhook } from '../domain/webhook.js';
import { WebhooksService } from '../domain/webhooks.service.js';
import { CreateWebhookDto, UpdateWebhookDto } from './webhook.dto.js';
import { type ShownWebhook, WebhookView } from '../webhook.view.js';

/** The paths of subscriptions at account level and of one application. */
export const ADDRESSES = {
  account: 'v1/webhooks',
  application: 'v1/applications/:applicationId/webhooks',
} as const;

const SHOW = {
  ...ACCOUNT_READ,
  include: parameter.choice(
    '`activity` adds the attempts of the last 24 hours, the newest delivery and the last success.',
    ['activity'],
  ),
};
const LIST = {
  scope: {
    ...parameter.choice('`all` includes the subscriptions of applications.', ['all']),
    // An application's list has only one scope.
    unless: 'applicationId',
  },
  ...ACCOUNT_READ,
  filter: {
    event: eventParameter('Only subscriptions to this kind of event'),
    resource: parameter.filter(
      resourceValidator,
      `Only subscriptions to this resource, one of ${RESOURCES.join(', ')}, ${ALL_RESOURCES}: \`sms\` finds subscriptions to ` +
        '`call,sms` and to `all`; `all` finds those to `all`.',
      'sms',
    ),
    enabled: parameter.flag('Only enabled (`true`) or disabled (`false`) subscriptions.'),
  },
  include: SHOW.include,
  page: OPTIONAL_PAGE,
};

/** Without an application, its level is the account. */
type ApplicationId = string | undefined;

/**
 * Webhook subscriptions of the caller's account (specification, sections 4.2 and 4.3). Under the account's
 * address, lists and creates them at account level, while single ones may also belong to an application. The platform
 * reads those of any account.
 */
@Controller(Object.values(ADDRESSES))
@ActAsUser()
export class WebhooksController {
  constructor(
    private readonly webhooks: WebhooksService,
    private readonly activity: RecentActivityReader,
    private readonly losses: RecentLossesReader,
    private readonly reads: OperatorReads,
  ) {}

  @Get()
  async list(
    @CurrentUser() user: Principal,
    @CurrentActor() actor: Actor,
    @Param('applicationId') applicationId: ApplicationId,
    @QueryOf(LIST)
    { page, include, accountId: asked, scope: level, filter }: Query<typeof LIST>,
  ): Promise<Answer> {
    const accountId = accountRead(asked, user);
    const scope = applicationId === undefined ? (level ?? 'account') : { applicationId };
    const read = await this.webhooks.list({ accountId, scope, ...filter });
    await this.reads.record(user, actor, {
      action: 'user.list_webhooks',
      resourceId: accountId,
      accountId,
    });
    const readWithHealth = async (of: Page) => this.shown(accountId, await read(of), include);
    return listed(page, readWithHealth, WebhookView);
  }

  @Get(':id')
  async show(
    @CurrentUser() user: Principal,
    @CurrentActor() actor: Actor,
    @Param('applicationId') applicationId: ApplicationId,
    @Param('id') id: string,
    @QueryOf(SHOW) { accountId: asked, include }: Query<typeof SHOW>,
  ): Promise<Answer> {
    const accountId = accountRead(asked, user);
    const webhook = await this.webhooks.get(accountId, id, applicationId);
    await this.reads.record(user, actor, { action: 'webhook.show', resourceId: id, accountId });
    await this.shown(accountId, [webhook], include);
    return shown(WebhookView, webhook, webhook.version);
  }

  @Post()
  @HttpCode(200)
  async create(
    @CurrentUser() { userId: accountId, role }: Principal,
    @Param('applicationId') applicationId: ApplicationId,
    @JsonBody(CreateWebhookDto) body: CreateWebhookDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const level = { accountId, applicationId };
    const create = () => this.webhooks.create(level, body, role);
    return once(async () => href('webhooks', await create()), { hasVersion: true });
  }

  @Put(':id')
  async update(
    @CurrentUser() { userId: accountId, role }: Principal,
    @Param('applicationId') applicationId: ApplicationId,
    @Param('id') id: string,
    @JsonBody(UpdateWebhookDto) body: UpdateWebhookDto,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const place = { accountId, applicationId, id };
    const version = await this.webhooks.update(place, body, check, role);
    return answer({ href: href('webhooks', id) }, { version });
  }

  @Delete(':id')
  async delete(
    @CurrentUser() { userId: accountId }: Principal,
    @Param('applicationId') applicationId: ApplicationId,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
  ): Promise<object> {
    await this.webhooks.delete({ accountId, applicationId, id }, check);
    return { message: 'delete successful' };
  }

  /** Adds what their rows do not have. */
  private async shown(
    accountId: string,
    webhooks: Webhook[],
    include: 'activity' | undefined,
  ): Promise<ShownWebhook[]> {
    await this.losses.addTo(webhooks);
    if (!include) return webhooks;
    const ids = webhooks.map(({ id }) => id);
    const activities = await this.activity.of(accountId, ids);
    return webhooks.map((webhook) => {
      const activity = activities.get(webhook.id);
      return activity ? Object.assign(webhook, { activity }) : webhook;
    });
  }
}
