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
import type { Actor } from '#libs/kernel';
import { ApplicationsService } from '../domain/applications.service.js';
import { ApplicationView, CreateApplicationDto, UpdateApplicationDto } from './application.dto.js';

const LIST = { ...ACCOUNT_READ, page: OPTIONAL_PAGE };

/** The applications of the caller's account (specification, section 4.1). The platform reads those of any account. */
@Controller('v1/applications')
@ActAsUser()
export class ApplicationsController {
  constructor(
    private readonly applications: ApplicationsService,
    private readonly reads: OperatorReads,
  ) {}

  @Get()
  async list(
    @CurrentUser() user: Principal,
    @CurrentActor() actor: Actor,
    @QueryOf(LIST) { page, accountId: asked }: Query<typeof LIST>,
  ): Promise<Answer> {
    const accountId = accountRead(asked, user);
    const action = 'user.list_applications';
    await this.reads.record(user, actor, { action, resourceId: accountId, accountId });
    return listed(page, (of) => this.applications.list(accountId, of), ApplicationView);
  }

  @Get(':id')
  async show(
    @CurrentUser() user: Principal,
    @CurrentActor() actor: Actor,
    @Param('id') id: string,
    @QueryOf(ACCOUNT_READ) { accountId: asked }: Query<typeof ACCOUNT_READ>,
  ): Promise<Answer> {
    const accountId = accountRead(asked, user);
    const application = await this.applications.get(accountId, id);
    await this.reads.record(user, actor, { action: 'application.show', resourceId: id, accountId });
    return shown(ApplicationView, application, application.version);
  }

  @Post()
  @HttpCode(200)
  async create(
    @CurrentUser() { userId }: Principal,
    @JsonBody(CreateApplicationDto) body: CreateApplicationDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const create = () => this.applications.create(userId, body);
    return once(async () => href('applications', await create()), { hasVersion: true });
  }

  @Put(':id')
  async update(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @JsonBody(UpdateApplicationDto) body: UpdateApplicationDto,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const version = await this.applications.update(userId, id, body, check);
    return answer({ href: href('applications', id) }, { version });
  }

  @Delete(':id')
  async delete(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @IfMatch() check: VersionCheck,
  ): Promise<object> {
    await this.applications.delete(userId, id, check);
    return { message: 'delete successful' };
  }
}
