import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CONFIG, type Config, type RateLimit, RateLimitedError } from '#libs/kernel';
import { InFlight } from '#libs/kernel/http';
import { RateLimiter } from '../domain/rate-limiter.js';
import { Refusals } from './refusals.js';

/** The name of the policy in the header fields. */
const POLICY = '"account"';

/**
 * Bounds how much an account asks (`RATE_LIMIT`), and tells of it in the fields of
 * draft-ietf-httpapi-ratelimit-headers-11; and what it has under way here. The role `platform`, which
 * reports the events, has no bound. Runs after the {@link BasicAuthGuard}, and before anything is known
 * of the path.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  private readonly limit: RateLimit;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly limiter: RateLimiter,
    private readonly inFlight: InFlight,
    private readonly refusals: Refusals,
  ) {
    this.limit = config.RATE_LIMIT;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (request.principal?.role !== 'account') return true;
    return this.admit(request.principal.userId, request, http.getResponse<Response>());
  }

  private async admit(accountId: string, request: Request, response: Response): Promise<boolean> {
    try {
      this.inFlight.begin(accountId, request, response);
      return await this.take(accountId, response);
    } catch (error) {
      if (error instanceof RateLimitedError) await this.refusals.pace(accountId);
      throw error;
    }
  }

  private async take(accountId: string, response: Response): Promise<boolean> {
    const { quota, windowMs } = this.limit;
    const { allowed, remaining, nextMs } = await this.limiter.take(accountId, this.limit);
    const window = windowMs / 1_000;
    response.setHeader('RateLimit-Policy', `${POLICY};q=${quota};w=${window}`);
    response.setHeader('RateLimit', `${POLICY};r=${remaining};t=${Math.ceil(nextMs / 1_000)}`);
    if (allowed) return true;
    const message = `The account may make ${counted(quota, 'request')} in ${counted(window, 'second')}.`;
    throw new RateLimitedError(message, nextMs);
  }
}

function counted(count: number, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`;
}
