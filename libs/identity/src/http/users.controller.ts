import { Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import {
  type AbsenceCheck,
  type Answer,
  answer,
  Href,
  type HrefBuilder,
  IfAbsent,
  JsonBody,
  listed,
  OPTIONAL_PAGE,
  QueryOf,
  shown,
} from '#libs/http';
import type { Page } from '#libs/kernel';
import { OPERATORS } from '../domain/access.js';
import type { Principal } from '../domain/logins.js';
import { UsersService } from '../domain/users.service.js';
import { AllowedTo } from './access.guard.js';
import { ActAsUser, CurrentUser } from './current-user.js';
import { LimitedTo } from './rate-limit.guard.js';
import {
  CreateCredentialDto,
  CreateUserDto,
  credentialHref,
  CredentialView,
  UpdateUserDto,
  UserView,
  UserWithCredentialsView,
} from './users.dto.js';

/** Each is hashed, which takes milliseconds that logins wait for. */
const NEW_CREDENTIALS = { quota: 20, windowMs: 60_000, what: 'new credential' };

/** Users and their credentials. In the paths, `:user` is an id or a username. */
@Controller('v1/users')
@ActAsUser()
export class UsersController {
  constructor(private readonly users: UsersService) {}

  @Get()
  @AllowedTo(OPERATORS)
  list(@QueryOf(OPTIONAL_PAGE) page: Partial<Page>): Answer {
    return listed(page, (of) => this.users.list(of), UserView);
  }

  @Get(':user')
  async show(@Param('user') name: string, @CurrentUser() viewer: Principal): Promise<Answer> {
    const { user, ...others } = await this.users.show(name, viewer);
    return shown(UserWithCredentialsView, Object.assign(user, others));
  }

  @Post()
  @HttpCode(200)
  @AllowedTo(OPERATORS)
  async create(
    @JsonBody(CreateUserDto) body: CreateUserDto,
    @CurrentUser() by: Principal,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const { user, ...made } = await this.users.create(body, by);
    const address = href('users', user.id);
    return answer({ href: address, id: Number(user.id), ...made }, { location: address });
  }

  @Put(':user')
  @AllowedTo(OPERATORS)
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

  @Get(':user/credentials')
  async listCredentials(
    @Param('user') name: string,
    @CurrentUser() by: Principal,
    @Href() href: HrefBuilder,
  ): Promise<object[]> {
    const { credentials } = await this.users.show(name, by);
    return credentials.map((each) => CredentialView.show(each, href));
  }

  @Delete(':user')
  @HttpCode(202)
  @AllowedTo(OPERATORS)
  async close(
    @Param('user') name: string,
    @CurrentUser() by: Principal,
    @IfAbsent() refuse: AbsenceCheck,
    @Href() href: HrefBuilder,
  ): Promise<object> {
    await refuse(() => this.users.show(name, by));
    const user = await this.users.close(name, by);
    return { href: href('users', user.id), id: Number(user.id) };
  }

  @Get(':user/credentials/:credential')
  async showCredential(
    @Param('user') name: string,
    @Param('credential') id: string,
    @CurrentUser() viewer: Principal,
  ): Promise<Answer> {
    return shown(CredentialView, await this.users.showCredential(name, id, viewer));
  }

  @Post(':user/credentials')
  @HttpCode(200)
  @LimitedTo(NEW_CREDENTIALS)
  async addCredential(
    @Param('user') name: string,
    @JsonBody(CreateCredentialDto) body: CreateCredentialDto,
    @CurrentUser() by: Principal,
    @Href() href: HrefBuilder,
  ): Promise<Answer> {
    const { credential, ...made } = await this.users.addCredential(name, body, by);
    const address = credentialHref(credential, href);
    const { id, scope, expiresAt } = credential;
    const shownNow = { scope, ...(expiresAt && { expiresAt }) };
    return answer({ href: address, id, ...made, ...shownNow }, { location: address });
  }

  @Delete(':user/credentials/:credential')
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
