import { stringify } from 'node:querystring';
import { rawElements } from '#libs/kernel';
import type { ApiConnection } from './api-connection.js';

const MAX_PAGE = 1_000;

/**
 * The query of a request, with `?` unless it is empty. Filters that are undefined are left out. A blank is sent as `%20`,
 * because the API reads `+1` at the start of a text as it is.
 */
export function queryOf(filters: Record<string, string | undefined>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const query = stringify(Object.fromEntries(given));
  return query && `?${query}`;
}

/**
 * The elements of a list, page by page, as the JSON texts that the API sent.
 * @param limit of the elements; by default, all
 */
export async function* pagesOf(
  api: ApiConnection,
  list: string,
  filters: Record<string, string | undefined> = {},
  limit = Infinity,
): AsyncGenerator<string[]> {
  const size = String(Math.min(limit, MAX_PAGE));
  let left = limit;
  let path: string | undefined = list + queryOf({ ...filters, limit: size });
  while (path !== undefined && left > 0) {
    const { text, next } = await api.ask('GET', path);
    const page = rawElements(text).slice(0, left);
    left -= page.length;
    yield page;
    path = next;
  }
}
