import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PreconditionFailedError } from '#libs/kernel';

/** The strong entity tag of a version. */
export function entityTag(version: number): string {
  return `"${String(version)}"`;
}

/** Throws unless the stored version is the one that the request was made for. */
export type VersionCheck = (version: number) => void;

/**
 * The `If-Match` of the request (RFC 9110, section 13.1.1) as a check of the stored version.
 * Without the header, and with `*`, any version passes; a weak tag never does. With
 * `If-None-Match: *` (section 13.1.2) none does, as the resource is there.
 */
export const IfMatch = createParamDecorator(ifMatch);

export function ifMatch(_: unknown, context: ExecutionContext): VersionCheck {
  const request = context.switchToHttp().getRequest<Request>();
  if (mustBeAbsent(request)) return refuse;
  return versionCheck(request.headers['if-match']);
}

/** For resources without versions: looks for it, and throws if it is there, with `If-None-Match: *`. */
export type AbsenceCheck = (find: () => Promise<unknown>) => Promise<void>;

/** The `If-None-Match: *` of the request as a check. */
export const IfAbsent = createParamDecorator(
  (_: unknown, context: ExecutionContext): AbsenceCheck => {
    const isAsked = mustBeAbsent(context.switchToHttp().getRequest<Request>());
    return async (find) => {
      if (!isAsked) return;
      await find();
      refuse();
    };
  },
);

function mustBeAbsent({ headers }: Request): boolean {
  return headers['if-none-match']?.trim() === '*';
}

function refuse(): never {
  throw new PreconditionFailedError('The resource is there, and If-None-Match is *.');
}

export function versionCheck(header: string | undefined): VersionCheck {
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (version) => {
    if (!tags.includes(entityTag(version))) throw new PreconditionFailedError();
  };
}
