import { Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type Answer, answer, baseUrlOf, JsonBody } from '#libs/http';
import { LinksService } from '../domain/links.service.js';
import { ActAsUser, CurrentLogin } from './current-user.js';
import { CreateLinkDto } from './links.dto.js';
import { LimitedTo } from './rate-limit.guard.js';

/** Each adds a row and an audit entry. */
const NEW_LINKS = { quota: 60, windowMs: 60_000, what: 'new link' };

/** Links that open the console as a user, once. */
@Controller('v1/users/:user/links')
@ActAsUser()
export class LinksController {
  constructor(private readonly links: LinksService) {}

  @Post()
  @HttpCode(200)
  @LimitedTo(NEW_LINKS)
  async create(
    @Param('user') user: string,
    @JsonBody(CreateLinkDto) { scope, expiresIn, path }: CreateLinkDto,
    @CurrentLogin() by: CurrentLogin,
    @Req() request: Request,
  ): Promise<Answer> {
    const { token, endsAt } = await this.links.create(user, { scope, seconds: expiresIn }, by);
    // A browser sends no fragment, so no log of a server or a proxy contains the token.
    const url = `${new URL(`${baseUrlOf(request)}/console${path}`).href}#link=${token}`;
    return answer({ url, expiresAt: endsAt }, {});
  }
}
