import { Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import {
  type Answer,
  answer,
  FairReads,
  type FairRead,
  Href,
  type HrefBuilder,
  Idempotent,
  JsonBody,
  type Once,
  shown,
} from '#libs/http';
import { type Principal, UsersService } from '#libs/identity';
import { ActAsUser, CurrentUser } from '#libs/identity/http';
import { EVERY_ACCOUNT, NotFoundError, ValidationError } from '#libs/kernel';
import { Erasures } from '../erasures.js';
import { ErasureRequestDto } from './erasure.dto.js';
import { ErasureView } from './erasure.view.js';

/** Erasures: an account's of its own events, an operator's of any. */
@Controller('v1/erasures')
@ActAsUser()
export class ErasuresController {
  constructor(
    private readonly erasures: Erasures,
    private readonly users: UsersService,
  ) {}

  @Post()
  @HttpCode(202)
  async start(
    @CurrentUser() user: Principal,
    @JsonBody(ErasureRequestDto) body: ErasureRequestDto,
    @Idempotent() once: Once,
    @Href() href: HrefBuilder,
    @FairReads() readFairly: FairRead,
  ): Promise<Answer> {
    const request = body.request(await this.accountOf(user, body.accountId));
    if (body.dryRun) {
      return answer(await readFairly(() => this.erasures.count(request)), { status: 200 });
    }
    return once(async () => href('erasures', await this.erasures.start(request)));
  }

  @Get(':id')
  async show(@Param('id') id: string, @CurrentUser() user: Principal): Promise<Answer> {
    const scope = isCustomer(user) ? user.userId : EVERY_ACCOUNT;
    return shown(ErasureView, await this.erasures.show(id, scope));
  }

  /** @throws ValidationError for an account that is unknown to the user */
  private async accountOf(user: Principal, asked: string | undefined): Promise<string | undefined> {
    if (asked === undefined) return isCustomer(user) ? user.userId : undefined;
    try {
      return (await this.users.show(asked, user)).user.id;
    } catch (error) {
      if (!(error instanceof NotFoundError)) throw error;
      throw ValidationError.of('accountId', 'unknown_reference', 'accountId names no account.');
    }
  }
}

/** Whether the user sees only what belongs to the own account. */
function isCustomer({ role }: Principal): boolean {
  return role === 'account';
}
