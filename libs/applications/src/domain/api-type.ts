import { wordOf } from '#libs/kernel';

/** How an application is driven. */
export const API_TYPES = ['scripting', 'webapi'] as const;
export type ApiType = (typeof API_TYPES)[number];

export const DEFAULT_API_TYPE: ApiType = 'scripting';

/** The type that a text names, in any case; undefined for anything else. */
export function apiTypeOf(value: unknown): ApiType | undefined {
  return API_TYPES.find((type) => typeof value === 'string' && type === value.toLowerCase());
}

/** A type in a request, in any case. */
export const apiTypePart = wordOf(API_TYPES);
