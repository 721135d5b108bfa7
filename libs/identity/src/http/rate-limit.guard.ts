import { setTimeout as sleep } from 'node:timers/promises';
import {
  type CanActivate,
  type ExecutionContext,
  Inject,
  Injectable,
  SetMetadata,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { Request, Response } from 'express';
import { InFlight } from '#libs/http';
import { Pacer, RateLimitedError } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';
import { type RateLimit, RateLimiter } from '../domain/rate-limiter.js';

/** Metadata key of the rate limit of a route. */
const LIMITED_TO = 'switchhook:limited-to';

/** A rate limit of a route for each account, in addition to the account's general one. */
interface RouteLimit extends RateLimit {
  /** The name of a request to this route. */
  what: string;
}

/** Limits a route that costs more than a request; requests beyond the limit get 429. */
export const LimitedTo = (limit: RouteLimit): MethodDecorator => SetMetadata(LIMITED_TO, limit);

/** While other users are active, a process begins so many requests of an account at once, and further ones so far apart. */
const BURST = 50;
const EVERY_MS = 4;

/** The policy's name in the headers. */
const POLICY = '"account"';

/**
 * Limits an account's requests per time (`RATE_LIMIT`), with the headers of
 * draft-ietf-httpapi-ratelimit-headers-11, and its requests in flight in this process. Spaces the requests of a busy
 * account while other users are active. A route may have an additional limit ({@link LimitedTo}). Only customers have
 * limits: producers report as much as happens, and operators must get in when the service is busy. Runs after the
 * {@link BasicAuthGuard}.
 */
@Injectable()
export class RateLimitGuard implements CanActivate {
  private readonly limit: RateLimit;
  private readonly pacer = new Pacer(EVERY_MS, BURST);

  constructor(
    @Inject(CONFIG) config: Config,
    private readonly limiter: RateLimiter,
    private readonly inFlight: InFlight,
    private readonly reflector: Reflector,
  ) {
    this.limit = config.RATE_LIMIT;
  }

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<Request>();
    if (!request.principal) return true;
    const { userId, role } = request.principal;
    const delayMs = this.pacer.delayOf(userId);
    if (role !== 'account') return true;
    const ofRoute = this.reflector.get<RouteLimit | undefined>(LIMITED_TO, context.getHandler());
    return this.admit(userId, delayMs, request, http.getResponse<Response>(), ofRoute);
  }

  private async admit(
    accountId: string,
    delayMs: number,
    request: Request,
    response: Response,
    ofRoute: RouteLimit | undefined,
  ): Promise<boolean> {
    request.accountId = accountId;
    this.inFlight.begin(accountId, request, response);
    if (delayMs > 0) await sleep(delayMs);
    await this.take(accountId, response);
    if (ofRoute) await this.takeOfRoute(accountId, ofRoute);
    return true;
  }

  private async take(accountId: string, response: Response): Promise<void> {
    const { quota, windowMs } = this.limit;
    const { allowed, remaining, nextMs } = await this.limiter.consume(accountId, this.limit);
    const window = windowMs / 1_000;
    response.setHeader('RateLimit-Policy', `${POLICY};q=${quota};w=${window}`);
    response.setHeader('RateLimit', `${POLICY};r=${remaining};t=${Math.ceil(nextMs / 1_000)}`);
    if (!allowed) throw tooMany({ ...this.limit, what: 'request' }, nextMs);
  }

  private async takeOfRoute(accountId: string, limit: RouteLimit): Promise<void> {
    const { allowed, nextMs } = await this.limiter.consume(`${accountId}:${limit.what}`, limit);
    if (!allowed) throw tooMany(limit, nextMs);
  }
}

function tooMany({ quota, windowMs, what }: RouteLimit, nextMs: number): RateLimitedError {
  const time = counted(windowMs / 1_000, 'second');
  return new RateLimitedError(`The account may make ${counted(quota, what)} in ${time}.`, nextMs);
}

function counted(count: number, what: string): string {
  return `${String(count)} ${what}${count === 1 ? '' : 's'}`;
}
