import { type CustomDecorator, SetMetadata } from '@nestjs/common';
import type { CommonCode } from './openapi/errors.js';

/** Who may call a route without credentials: everybody, or everybody whose path is not `/v1/…`. */
export type OpenTo = 'everybody' | 'paths-outside-v1';

/** Metadata key of {@link OpenTo}; a route without it needs credentials. */
export const OPEN_TO = 'switchhook:open-to';

/** Opens a route, or all routes of a controller, to callers without credentials. */
export const Public = (): CustomDecorator => SetMetadata(OPEN_TO, 'everybody' satisfies OpenTo);

/** Opens what answers for unknown paths: under `/v1/` even those need credentials. */
export const PublicOutsideV1 = (): CustomDecorator =>
  SetMetadata(OPEN_TO, 'paths-outside-v1' satisfies OpenTo);

/** Metadata key: an error that a route, or all routes of a controller, may answer with. */
export const REFUSES_WITH = 'switchhook:refuses-with';

/** Tells the API's description of an error that comes of a decorator, such as one for roles. */
export const RefusesWith = (code: CommonCode): CustomDecorator => SetMetadata(REFUSES_WITH, code);
