import { stringify } from 'node:querystring';
import type { Command } from 'commander';
import { rawElements } from '#libs/kernel';
import { wholeNumber } from '../arguments.js';
import type { OutputOptions } from '../output.js';
import { type Column, Table } from '../table.js';
import type { ApiConnection } from './api-connection.js';

const MAX_PAGE = 1_000;
const MAX_LISTED = 100_000;

/** The options that select elements of a list. */
export interface Filters {
  webhook?: string;
  application?: string;
  account?: string;
  state?: string;
  event?: string;
  resource?: string;
  status?: string;
  producerId?: string;
  unmatched?: true;
  missedBy?: string;
  contains?: string;
  since?: string;
  until?: string;
}

/** Adds the option of a list that may be long. */
export function withLimit(command: Command): Command {
  return command.option('--limit <n>', 'at most this many', wholeNumber(1, MAX_LISTED), 50);
}

/** The parameters of the API for these options. */
export function filtersOf(options: Filters) {
  const { webhook: webhookId, application: applicationId, account: accountId } = options;
  const { state, event, resource, status, producerId, missedBy, contains, since, until } = options;
  const unmatched = options.unmatched && 'true';
  return {
    ...{ webhookId, applicationId, accountId, state, event, resource, status },
    ...{ producerId, unmatched, missedBy, contains, since, until },
  };
}

/**
 * The query of a request, with `?` unless it is empty. Filters that are undefined are left out. A blank is sent as `%20`,
 * because the API reads `+1` at the start of a text as it is.
 */
export function queryOf(filters: Record<string, string | undefined>): string {
  const given = Object.entries(filters).filter(([, value]) => value !== undefined);
  const query = stringify(Object.fromEntries(given));
  return query && `?${query}`;
}

/** The subscriptions of an application, or of the account. */
export function webhooksPath(application?: string): string {
  return application === undefined ? 'v1/webhooks' : `v1/applications/${application}/webhooks`;
}

/** A list of the API and how it is printed. */
interface Listing<Element> {
  path: string;
  filters: Record<string, string | undefined>;
  /** By default, all elements. */
  limit?: number;
  columns: readonly Column[];
  cellsOf: (element: Element) => readonly (string | undefined)[];
  whenEmpty: string;
}

/** Prints the elements of a list, page by page, with `--json` as the API sent them. */
export async function printList<Element>(
  api: ApiConnection,
  options: OutputOptions,
  { path, filters, limit = Infinity, columns, cellsOf, whenEmpty }: Listing<Element>,
): Promise<void> {
  const table = new Table(options, columns);
  const size = String(Math.min(limit, MAX_PAGE));
  let left = limit;
  let next: string | undefined = path + queryOf({ ...filters, limit: size });
  while (next !== undefined && left > 0) {
    const answer = await api.ask('GET', next);
    const page = rawElements(answer.text).slice(0, left);
    table.add(page.map((value) => ({ value, cells: cellsOf(JSON.parse(value) as Element) })));
    left -= page.length;
    next = answer.next;
  }
  table.end(whenEmpty);
}
