import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  answer,
  Href,
  type HrefBuilder,
  JsonBody,
  listed,
  OPTIONAL_PAGE,
  QueryOf,
  shown,
} from '#libs/http';
import type { Page } from '#libs/kernel';
import { OPERATORS } from '../domain/access.js';
import { EnvironmentsService } from '../domain/environments.service.js';
import { AllowedTo } from './access.guard.js';
import { ActAsUser } from './current-user.js';
import { CreateEnvironmentDto, EnvironmentView } from './environments.dto.js';

/** Environments. Every user may see them; only operators add some. */
@Controller('v1/environments')
@ActAsUser()
export class EnvironmentsController {
  constructor(private readonly environments: EnvironmentsService) {}

  @Get()
  list(@QueryOf(OPTIONAL_PAGE) page: Partial<Page>): Answer {
    return listed(page, (of) => this.environments.list(of), EnvironmentView);
  }

  @Get(':id')
  async show(@Param('id') id: string): Promise<Answer> {
    return shown(EnvironmentView, await this.environments.get(id));
  }

  @Post()
  @HttpCode(200)
  @AllowedTo(OPERATORS)
  async create(
    @JsonBody(CreateEnvironmentDto) environment: CreateEnvironmentDto,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const created = await this.environments.create(environment);
    const address = href('environments', created.id);
    return answer({ href: address, id: created.id }, { location: address });
  }
}
