import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { Request } from 'express';
import { PreconditionFailedError } from '#libs/kernel';

/** The strong entity tag of a version. */
export function entityTag(version: number): string {
  return `"${String(version)}"`;
}

/** Throws unless the stored version is the one that the request expects. */
export type VersionCheck = (version: number) => void;

/**
 * The `If-Match` header (RFC 9110, section 13.1.1) as a check of the stored version. Without the header or
 * with `*`, every version matches; a weak tag never does, and the error says so. With `If-None-Match: *`
 * (section 13.1.2) the check always fails, because the resource exists.
 */
export const IfMatch = createParamDecorator(ifMatch);

export function ifMatch(_: unknown, context: ExecutionContext): VersionCheck {
  const request = context.switchToHttp().getRequest<Request>();
  if (mustBeAbsent(request)) return refuse;
  return versionCheck(request.headers['if-match']);
}

/** For resources without versions: with `If-None-Match: *`, throws if the resource exists. */
export type AbsenceCheck = (find: () => Promise<unknown>) => Promise<void>;

/** The `If-None-Match: *` header as a check. */
export const IfAbsent = createParamDecorator(
  (_: unknown, context: ExecutionContext): AbsenceCheck => {
    const isRequired = mustBeAbsent(context.switchToHttp().getRequest<Request>());
    return async (find) => {
      if (!isRequired) return;
      await find();
      refuse();
    };
  },
);

function mustBeAbsent({ headers }: Request): boolean {
  return headers['if-none-match']?.trim() === '*';
}

function refuse(): never {
  throw new PreconditionFailedError('The resource exists, and If-None-Match is *.');
}

export function versionCheck(header: string | undefined): VersionCheck {
  if (header === undefined || header.trim() === '*') return () => undefined;
  const tags = header.split(',').map((tag) => tag.trim());
  return (version) => {
    if (!tags.includes(entityTag(version))) throw new PreconditionFailedError(faultIn(tags));
  };
}

/** The tag of some version. */
const OURS = /^"(?:0|[1-9]\d*)"$/;
const WEAK = /^W\/"/;
const QUOTED = /^"[^"]*"$/;

/** Why tags match no version; undefined if one of them is the tag of another version. */
function faultIn(tags: readonly string[]): string | undefined {
  if (tags.some((tag) => OURS.test(tag))) return undefined;
  const isWeak = tags.some((tag) => WEAK.test(tag));
  const fault = isWeak
    ? 'has a weak tag, which never matches'
    : tags.every((tag) => QUOTED.test(tag))
      ? 'has a tag that no version has'
      : 'must have tags in quotes';
  return (
    `If-Match ${fault}: send the ETag as the API returns it, such as "1". ` +
    'A proxy that compresses responses may have changed it.'
  );
}
