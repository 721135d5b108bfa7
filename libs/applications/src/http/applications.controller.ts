import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  answerList,
  entityTag,
  Href,
  type HrefBuilder,
  Idempotent,
  IfMatch,
  JsonBody,
  type Once,
  QueryReader,
  type VersionCheck,
} from '#libs/http';
import type { Principal } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import type { Page } from '#libs/kernel';
import { ApplicationsService } from '../domain/applications.service.js';
import { CreateApplicationDto, UpdateApplicationDto } from './application.dto.js';
import { ApplicationView } from './application.view.js';

/** The applications of the caller's account (specification, section 4.1). */
@Controller('v1/applications')
@ActAsUser()
export class ApplicationsController {
  constructor(private readonly applications: ApplicationsService) {}

  @Get()
  async list(
    @CurrentUser() { userId }: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    const query = new QueryReader(request);
    const page = query.optionalPage();
    query.done();
    const read = (of: Page) => this.applications.list(userId, of);
    await answerList(request, response, page, read, ApplicationView);
  }

  @Get(':id')
  async show(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const application = await this.applications.get(userId, id);
    response.setHeader('ETag', entityTag(application.version));
    return ApplicationView.show(application, href);
  }

  @Post()
  @HttpCode(200)
  async create(
    @CurrentUser() { userId }: Principal,
    @JsonBody(CreateApplicationDto) body: CreateApplicationDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    return once(
      async () => href('applications', await this.applications.create(userId, body.application())),
      { hasVersion: true },
    );
  }

  @Put(':id')
  async update(
    @CurrentUser() { userId }: Principal,
    @Param('id') id: string,
    @JsonBody(UpdateApplicationDto) body: UpdateApplicationDto,
    @IfMatch() check: VersionCheck,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const version = await this.applications.update(userId, id, body.changes(), check);
    response.setHeader('ETag', entityTag(version));
    return { href: href('applications', id) };
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
