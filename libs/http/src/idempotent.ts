import { createHash } from 'node:crypto';
import {
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { currentActor, ValidationError } from '#libs/kernel';
import { IdempotencyKeys, type KeyedRequest } from '#libs/runtime';
import { type Answer, answer } from './answer.js';
import { pathOf } from './request.js';

/** Visible ASCII. Node joins repeated headers with a blank, so they do not match. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Answers a POST with the address of the resource that `make` creates, also as `Location`. A repeat with the
 * same `Idempotency-Key` gets the same address and creates nothing. Only the address is stored, so this does
 * not work for a route whose answer contains a secret.
 * @param options `hasVersion`: a new resource has the version 1, and the answer an `ETag`
 * @throws IdempotencyKeyInUseError, IdempotencyKeyReusedError, ValidationError for the header
 */
export type Once = (
  make: () => Promise<string>,
  options?: { hasVersion: boolean },
) => Promise<Answer>;

/** Passes the request to {@link Once}. The API description recognises idempotent routes by this function. */
export function requestOf(_: unknown, context: ExecutionContext): Request {
  return context.switchToHttp().getRequest<Request>();
}

@Injectable()
class OncePipe implements PipeTransform<Request, Once> {
  constructor(private readonly keys: IdempotencyKeys) {}

  transform(request: Request): Once {
    return async (make, { hasVersion } = { hasVersion: false }) => {
      // Checked here, not earlier, because faults of the body have precedence.
      const keyed = keyedRequest(request);
      const made = keyed
        ? await this.keys.once(keyed, make)
        : { href: await make(), repeated: false };
      const body = { href: made.href };
      if (made.repeated) {
        return answer(body, { location: made.href, headers: { 'Idempotency-Replayed': 'true' } });
      }
      return answer(body, { location: made.href, ...(hasVersion && { version: 1 }) });
    };
  }
}

const FromRequest = createParamDecorator(requestOf);

/** The {@link Once} of the request. */
export const Idempotent = (): ParameterDecorator => FromRequest(OncePipe);

function keyedRequest(request: Request): KeyedRequest | undefined {
  const key = request.headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key !== 'string' || !KEY.test(key)) throw malformedKey();
  const { userId } = currentActor();
  if (userId === undefined) throw new Error('the route is public: its requests have no account');
  return { accountId: userId, key, fingerprint: fingerprintOf(request) };
}

/** Covers method, path and the decompressed body, if the route reads one. */
function fingerprintOf(request: Request): Buffer {
  const path = pathOf(request).replace(/\/$/, '');
  const hash = createHash('sha256').update(`${request.method} ${path}\n`);
  if (Buffer.isBuffer(request.body)) hash.update(request.body);
  return hash.digest();
}

function malformedKey(): ValidationError {
  return ValidationError.of(
    'Idempotency-Key',
    'format',
    'The header Idempotency-Key must be given once, and have 1 to 255 visible ASCII characters.',
  );
}
