import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import type { CommonCode, DescribedError } from './openapi/errors.js';

/**
 * Which requests need no credentials: all of them, only those whose path is not under `/v1/`, or logins, whose
 * handler checks the credentials itself.
 */
export type OpenTo = 'everybody' | 'paths-outside-v1' | 'logins';

/** Metadata key of {@link OpenTo}; a route without it needs credentials. */
export const OPEN_TO = 'switchhook:open-to';

/** Opens a route, or all routes of a controller, to callers without credentials. */
export const Public = (): CustomDecorator => SetMetadata(OPEN_TO, 'everybody' satisfies OpenTo);

/** Marks a route whose handler checks the credentials, because they may be in the body. */
export const Login = (): CustomDecorator => SetMetadata(OPEN_TO, 'logins' satisfies OpenTo);

/** Opens the route for unknown paths, except under `/v1/`, where even unknown paths need credentials. */
export const PublicOutsideV1 = (): CustomDecorator =>
  SetMetadata(OPEN_TO, 'paths-outside-v1' satisfies OpenTo);

/** Metadata key of the names of the roles that a route, or every route of a controller, is for, if it is not for the usual ones. */
export const ALLOWED_TO = 'switchhook:allowed-to';

/** Metadata key of the name of the scope that a credential needs for a route, if its method does not decide. */
export const NEEDS_SCOPE = 'switchhook:needs-scope';

/** Metadata key of the errors that a route, or any route of a controller, may answer with. */
export const REFUSES_WITH = 'switchhook:refuses-with';

/** Documents an error that a decorator causes in the API description. */
export const RefusesWith =
  (error: CommonCode | DescribedError): MethodDecorator & ClassDecorator =>
  (target: object, _?: PropertyKey, method?: PropertyDescriptor) => {
    const on = (method?.value ?? target) as object;
    const others = (Reflect.getOwnMetadata(REFUSES_WITH, on) ?? []) as unknown[];
    Reflect.defineMetadata(REFUSES_WITH, [...others, error], on);
  };
