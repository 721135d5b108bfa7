import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { CONFIG, type Config, type RateLimit, RateLimitedError } from '#libs/kernel';
import { RateLimiter } from '../domain/rate-limiter.js';

/** The name of the policy in the header fields. */
const POLICY = '"account"';

/**
 * Bounds how much an account asks, where `RATE_LIMIT` is set, and tells of it in the fields of
 * draft-ietf-httpapi-ratelimit-headers-11. The role `platform`, which reports the events, has no
 * bound. Runs after the {@link BasicAuthGuard}, and before anything is known of the path.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  private readonly limit: RateLimit | undefined;

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly limiter: RateLimiter,
  ) {
    this.limit = config.RATE_LIMIT;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    if (!this.limit) return true;
    const http = context.switchToHttp();
    const { principal } = http.getRequest<Request>();
    if (principal?.role !== 'account') return true;
    return this.take(principal.userId, this.limit, http.getResponse<Response>());
  }

  private async take(accountId: string, limit: RateLimit, response: Response): Promise<boolean> {
    const { allowed, remaining, nextMs } = await this.limiter.take(accountId, limit);
    const { quota, windowMs } = limit;
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
