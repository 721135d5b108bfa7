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
  QueryOf,
  type QueryReader,
  shown,
  type VersionCheck,
} from '#libs/http';
import { OperatorReads, type Principal } from '#libs/identity';
import { accountRead, ActAsUser, CurrentActor, CurrentUser } from '#libs/identity/http';
import { type Actor, oneOf, type Page } from '#libs/kernel';
import { eventKindValidator, resourceValidator } from '../../event-kinds/http/choices.schema.js';
import { RecentActivityReader } from '../recent-activity.js';
import { RecentLossesReader } from '../recent-losses.js';
import type { Webhook } from '../domain/webhook.js';
import { WebhooksService } from '../domain/webhooks.service.js';
import { CreateWebhookDto, UpdateWebhookDto } from './webhook.dto.js';
import { type ShownWebhook, WebhookView } from './webhook.view.js';

/** The addresses of subscriptions: those of the account, and those of one application. */
export const ADDRESSES = {
  account: 'v1/webhooks',
  application: 'v1/applications/:applicationId/webhooks',
} as const;

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
    @QueryOf(readQuery)
    { page, hasActivity, accountId: asked, ...filter }: ReturnType<typeof readQuery>,
  ): Promise<Answer> {
    const accountId = accountRead(asked, user);
    const read = await this.webhooks.list({ accountId, ...filter });
    await this.reads.record(user, actor, {
      action: 'user.list_webhooks',
      resourceId: accountId,
      accountId,
    });
    const readWithHealth = async (of: Page) => this.shown(accountId, await read(of), hasActivity);
    return listed(page, readWithHealth, WebhookView);
  }

  @Get(':id')
  async show(
    @CurrentUser() user: Principal,
    @CurrentActor() actor: Actor,
    @Param('applicationId') applicationId: ApplicationId,
    @Param('id') id: string,
    @QueryOf(readShown) { accountId: asked, hasActivity }: ReturnType<typeof readShown>,
  ): Promise<Answer> {
    const accountId = accountRead(asked, user);
    const webhook = await this.webhooks.get(accountId, id, applicationId);
    await this.reads.record(user, actor, { action: 'webhook.show', resourceId: id, accountId });
    await this.shown(accountId, [webhook], hasActivity);
    return shown(WebhookView, webhook, webhook.version);
  }

  @Post()
  @HttpCode(200)
  async create(
    @CurrentUser() { userId: accountId }: Principal,
    @Param('applicationId') applicationId: ApplicationId,
    @JsonBody(CreateWebhookDto) body: CreateWebhookDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const level = { accountId, applicationId };
    return once(async () => href('webhooks', await this.webhooks.create(level, body.content())), {
      hasVersion: true,
    });
  }

  @Put(':id')
  async update(
    @CurrentUser() { userId: accountId }: Principal,
    @Param('applicationId') applicationId: ApplicationId,
    @Param('id') id: string,
    @JsonBody(UpdateWebhookDto) body: UpdateWebhookDto,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const place = { accountId, applicationId, id };
    const version = await this.webhooks.update(place, body.changes(), check);
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
    hasActivity: boolean,
  ): Promise<ShownWebhook[]> {
    await this.losses.addTo(webhooks);
    if (!hasActivity) return webhooks;
    const ids = webhooks.map(({ id }) => id);
    const activities = await this.activity.of(accountId, ids);
    return webhooks.map((webhook) => {
      const activity = activities.get(webhook.id);
      return activity ? Object.assign(webhook, { activity }) : webhook;
    });
  }
}

const SCOPE = oneOf(['all']);
const INCLUDE = oneOf(['activity']);

function readShown(query: QueryReader) {
  return {
    accountId: query.numericId('accountId'),
    hasActivity: query.valid('include', INCLUDE) !== undefined,
  };
}

function readQuery(query: QueryReader, { applicationId }: { applicationId?: string }) {
  return {
    event: query.filter('event', eventKindValidator),
    resource: query.filter('resource', resourceValidator),
    enabled: query.flag('enabled'),
    // An application's list has only one scope, so `scope` is an unknown parameter there.
    scope:
      applicationId === undefined
        ? (query.valid('scope', SCOPE) ?? ('account' as const))
        : { applicationId },
    ...readShown(query),
    page: query.optionalPage(),
  };
}
