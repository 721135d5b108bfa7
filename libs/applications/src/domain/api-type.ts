/** How an application is driven. */
export const API_TYPES = ['scripting', 'webapi'] as const;
export type ApiType = (typeof API_TYPES)[number];

export const DEFAULT_API_TYPE: ApiType = 'scripting';

/** The type that a text names, in any case; undefined if it names none. */
export function apiTypeOf(text: string): ApiType | undefined {
  return API_TYPES.find((type) => type === text.toLowerCase());
}
