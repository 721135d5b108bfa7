import { Controller, Get, HttpCode, Param, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { answerList, Href, type HrefBuilder, JsonBody, QueryReader } from '#libs/http';
import { numericIdOf } from '#libs/kernel';
import { EnvironmentsService } from '../domain/environments.service.js';
import { ActAsUser } from './actor.interceptor.js';
import { PlatformOnly } from './decorators.js';
import { CreateEnvironmentDto } from './environments.dto.js';
import { EnvironmentView } from './environments.view.js';

/** Environments. Every user may see them; only the platform adds some. */
@Controller('v1/environments')
@ActAsUser()
export class EnvironmentsController {
  constructor(private readonly environments: EnvironmentsService) {}

  @Get()
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    const query = new QueryReader(request);
    const page = query.optionalPage();
    query.done();
    await answerList(request, response, page, (of) => this.environments.list(of), EnvironmentView);
  }

  @Get(':id')
  async show(@Param('id') id: string, @Href() href: HrefBuilder): Promise<object> {
    return EnvironmentView.show(await this.environments.get(id), href);
  }

  @Post()
  @HttpCode(200)
  @PlatformOnly()
  async create(
    @JsonBody(CreateEnvironmentDto) { id: chosen, ...fields }: CreateEnvironmentDto,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const id = numericIdOf(chosen);
    const { name, type, billable } = fields;
    const created = await this.environments.create({ name, type, billable, ...(id && { id }) });
    const address = href('environments', created.id);
    response.setHeader('Location', address);
    return { href: address, id: created.id };
  }
}
