import { Controller, Delete, Get, HttpCode, Param, Post, Put, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import {
  type AbsenceCheck,
  answerList,
  Href,
  type HrefBuilder,
  IfAbsent,
  JsonBody,
  parseTime,
  QueryReader,
} from '#libs/http';
import type { Principal } from '../domain/logins.js';
import { UsersService } from '../domain/users.service.js';
import { ActAsUser } from './actor.interceptor.js';
import { CurrentUser, PlatformOnly } from './decorators.js';
import { CreateCredentialDto, CreateUserDto, UpdateUserDto } from './users.dto.js';
import { credentialHref, CredentialView, UserView, UserWithCredentialsView } from './users.view.js';

/** Users and their credentials. In the paths, `:user` is an id or a username. */
@Controller('v1/users')
@ActAsUser()
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get()
  @PlatformOnly()
  async list(@Req() request: Request, @Res() response: Response): Promise<void> {
    const query = new QueryReader(request);
    const page = query.optionalPage();
    query.done();
    await answerList(request, response, page, (of) => this.users.list(of), UserView);
  }

  @Get(':user')
  async show(
    @Param('user') name: string,
    @CurrentUser() viewer: Principal,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    const { user, credentials } = await this.users.show(name, viewer);
    return UserWithCredentialsView.show(Object.assign(user, { credentials }), href);
  }

  @Post()
  @HttpCode(200)
  @PlatformOnly()
  async create(
    @JsonBody(CreateUserDto) { username, role = 'account', password }: CreateUserDto,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { user, ...made } = await this.users.create({ username, role, password });
    const address = href('users', user.id);
    response.setHeader('Location', address);
    return { href: address, id: Number(user.id), ...made };
  }

  @Put(':user')
  @PlatformOnly()
  async update(
    @Param('user') name: string,
    @JsonBody(UpdateUserDto) { status }: UpdateUserDto,
    @CurrentUser() by: Principal,
    @IfAbsent() refuse: AbsenceCheck,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    await refuse(() => this.users.show(name, by));
    const user = await this.users.setStatus(name, status, by);
    return { href: href('users', user.id), id: Number(user.id) };
  }

  @Get(':user/credentials/:credential')
  async showCredential(
    @Param('user') name: string,
    @Param('credential') id: string,
    @CurrentUser() viewer: Principal,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    return CredentialView.show(await this.users.showCredential(name, id, viewer), href);
  }

  @Post(':user/credentials')
  @HttpCode(200)
  @PlatformOnly()
  async addCredential(
    @Param('user') name: string,
    @JsonBody(CreateCredentialDto) { password, expiresAt }: CreateCredentialDto,
    @Href() href: HrefBuilder,
    @Res({ passthrough: true }) response: Response,
  ): Promise<object> {
    const { credential, ...made } = await this.users.addCredential(name, {
      password,
      expiresAt: expiresAt === undefined ? undefined : parseTime(expiresAt),
    });
    const address = credentialHref(credential, href);
    response.setHeader('Location', address);
    return { href: address, id: credential.id, ...made };
  }

  @Delete(':user/credentials/:credential')
  @PlatformOnly()
  async removeCredential(
    @Param('user') name: string,
    @Param('credential') id: string,
    @CurrentUser() by: Principal,
    @IfAbsent() refuse: AbsenceCheck,
  ): Promise<object> {
    await refuse(() => this.users.showCredential(name, id, by));
    await this.users.removeCredential(name, id, by);
    return { message: 'delete successful' };
  }
}
