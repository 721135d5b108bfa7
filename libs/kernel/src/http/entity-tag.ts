import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PreconditionFailedError } from '../errors/domain-error.js';

/** The strong entity tag of a version. */
export function entityTag(version: number): string {
  return `"${String(version)}"`;
}

/** Throws unless the stored version is the one that the request was made for. */
export type VersionCheck = (version: number) => void;

/**
 * The `If-Match` of the request (RFC 9110, section 13.1.1) as a check of the stored version.
 * Without the header, and with `*`, any version passes; a weak tag never does.
 */
export const IfMatch = createParamDecorator(ifMatch);

export function ifMatch(_: unknown, context: ExecutionContext): VersionCheck {
  return versionCheck(context.switchToHttp().getRequest<Request>().headers['if-match']);
}

export function versionCheck(header: string | undefined): VersionCheck {
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (version) => {
    if (!tags.includes(entityTag(version))) throw new PreconditionFailedError();
  };
}
