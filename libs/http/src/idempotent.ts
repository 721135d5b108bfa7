import { createHash } from 'node:crypto';
import {
  createParamDecorator,
  type ExecutionContext,
  Injectable,
  type PipeTransform,
} from '@nestjs/common';
import type { Request } from 'express';
import { presentActor, ValidationError } from '#libs/kernel';
import { IdempotencyKeys, type KeyedRequest } from '#libs/runtime';
import { pathOf } from './request.js';

/** Visible ASCII; of a repeated header Node makes one text with a blank in it. */
const KEY = /^[\x21-\x7e]{1,255}$/;

/**
 * Answers a POST with the address of what `make` makes, also as `Location`. Where the request has an
 * `Idempotency-Key`, a repeat gets the same address and makes nothing. Only the address is ever
 * kept, so a route whose answer holds a secret cannot be answered by this.
 * @throws IdempotencyKeyInUseError, IdempotencyKeyReusedError, ValidationError for the header
 */
export type Once = (make: () => Promise<string>) => Promise<{ href: string }>;

/** How {@link Once} comes to a handler; the API's description knows the routes by it. */
export function requestOf(_: unknown, context: ExecutionContext): Request {
  return context.switchToHttp().getRequest<Request>();
}

@Injectable()
class OncePipe implements PipeTransform<Request, Once> {
  constructor(private readonly keys: IdempotencyKeys) {}

  transform(request: Request): Once {
    return async (make) => {
      // Here, and not when the handler is called: the faults of the body come first.
      const keyed = keyedRequest(request);
      const made = keyed
        ? await this.keys.once(keyed, make)
        : { href: await make(), repeated: false };
      request.res?.setHeader('Location', made.href);
      if (made.repeated) request.res?.setHeader('Idempotency-Replayed', 'true');
      return { href: made.href };
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
  const { userId } = presentActor();
  if (userId === undefined) throw new Error('the route is public: its requests have no account');
  return { accountId: userId, key, fingerprint: fingerprintOf(request) };
}

/** The body as it was sent, inflated; nothing where the route does not read one. */
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
