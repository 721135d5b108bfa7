import { Controller, Delete, Get, HttpCode, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { Href, type HrefBuilder, Login, LoginBody } from '#libs/http';
import { actAs } from '#libs/kernel';
import type { Principal } from '../domain/logins.js';
import { SessionsService } from '../domain/sessions.service.js';
import { actorOf } from './actor.interceptor.js';
import { CurrentUser } from './decorators.js';
import { RequestLogin } from './request-login.js';
import { clearSessionCookie, setSessionCookie, usedSessionOf } from './session-cookie.js';
import { LoginDto } from './session.dto.js';
import { SessionView } from './session.view.js';

/** The session of a browser. Programs use Basic credentials and do not need one. */
@Controller('v1/session')
export class SessionController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly login: RequestLogin,
  ) {}

  @Post()
  @HttpCode(200)
  @Login()
  async begin(
    @LoginBody(LoginDto) pair: LoginDto | undefined,
    @Req() request: Request,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const match = await this.login.withPassword(request, pair);
    const { token, session } = await actAs(actorOf(request, match.principal), () =>
      this.sessions.begin(match),
    );
    setSessionCookie(request, response, token);
    return SessionView.show(session, href);
  }

  @Get()
  async show(
    @CurrentUser() principal: Principal,
    @Req() request: Request,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    const token = usedSessionOf(request);
    const shown = token === undefined ? { principal } : await this.sessions.show(token);
    return SessionView.show(shown, href);
  }

  @Delete()
  async end(
    @CurrentUser() principal: Principal,
    @Req() request: Request,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const token = usedSessionOf(request);
    if (token !== undefined) {
      await actAs(actorOf(request, principal), () => this.sessions.end(token));
      clearSessionCookie(request, response);
    }
    return { message: 'delete successful' };
  }
}
