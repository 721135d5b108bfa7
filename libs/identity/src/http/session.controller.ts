import { Controller, Delete, Get, HttpCode, Post, Req } from '@nestjs/common';
import type { Request } from 'express';
import { type Answer, answer, Login, LoginBody, shown } from '#libs/http';
import { actAs } from '#libs/kernel';
import type { Principal } from '../domain/logins.js';
import { SessionsService } from '../domain/sessions.service.js';
import { NeedsScope } from './access.guard.js';
import { ActAsUser, actorOf, CurrentUser } from './current-user.js';
import { RequestLogin, UsedSession, withSessionCookie } from './request-login.js';
import { LoginDto, SessionView } from './session.dto.js';

/** The session of a browser. Programs use Basic credentials and do not need one. */
@Controller('v1/session')
@ActAsUser()
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly login: RequestLogin,
  ) {}

  @Post()
  @HttpCode(200)
  @Login()
  async begin(
    @LoginBody(LoginDto) body: LoginDto | undefined,
    @Req() request: Request,
  ): Promise<Answer> {
    const match = await this.login.withBody(request, body);
    const { token, session } = await actAs(actorOf(request, match.principal), () =>
      this.sessions.begin(match),
    );
    return withSessionCookie(shown(SessionView, session), token, 'linkId' in session);
  }

  @Get()
  async show(
    @CurrentUser() principal: Principal,
    @UsedSession() token: string | undefined,
  ): Promise<Answer> {
    return shown(
      SessionView,
      token === undefined ? { principal } : await this.sessions.show(token),
    );
  }

  @Delete()
  @NeedsScope('read')
  async end(@UsedSession() token: string | undefined): Promise<Answer> {
    const ended = answer({ message: 'delete successful' }, {});
    if (token === undefined) return ended;
    await this.sessions.end(token);
    return withSessionCookie(ended, undefined);
  }
}
