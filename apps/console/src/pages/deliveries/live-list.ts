import type { Delivery, DeliveryFilters, DeliveryList } from './deliveries.queries.js';
import { isFinished } from '../../states/delivery-state.js';

/** A list with these deliveries updated. */
export function patched(list: DeliveryList, changes: ReadonlyMap<string, Delivery>): DeliveryList {
  const pages = list.pages.map((page) => {
    if (!page.rows.some(({ id }) => changes.has(id))) return page;
    return { ...page, rows: page.rows.map((row) => changes.get(row.id) ?? row) };
  });
  return { ...list, pages };
}

/** A list with further deliveries at its top. */
export function prepended(list: DeliveryList, arrivals: readonly Delivery[]): DeliveryList {
  const [first, ...others] = list.pages;
  if (!first || arrivals.length === 0) return list;
  return { ...list, pages: [{ ...first, rows: [...arrivals, ...first.rows] }, ...others] };
}

/** Whether a list has deliveries that may change when this subscription changes. */
export function hasUnfinishedOf(list: DeliveryList, webhook: string): boolean {
  const rows = list.pages.flatMap((page) => page.rows);
  return rows.some(({ webhookId, state }) => webhookId === webhook && !isFinished(state));
}

/** The deliveries that belong to a list and are newer than all in it; newest first. */
export function arrivalsOf(
  list: DeliveryList,
  changes: Iterable<Delivery>,
  filters: DeliveryFilters,
): Delivery[] {
  const known = new Set(list.pages.flatMap(({ rows }) => rows).map(({ id }) => id));
  const newest = list.pages[0]?.rows[0];
  return [...changes]
    .filter(({ id, createdAt }) => !known.has(id) && createdAt >= (newest?.createdAt ?? ''))
    .filter((delivery) => matches(delivery, filters))
    .sort((one, other) => (one.id < other.id ? 1 : -1));
}

/** Whether filters accept a delivery. The stream does not send the status of its last attempt. */
function matches(delivery: Delivery, filters: DeliveryFilters): boolean {
  const { since, until, status, accountId, ...exact } = filters;
  if (status !== undefined || accountId !== undefined) return false;
  const at = Date.parse(delivery.createdAt);
  if (since !== undefined && !(at >= Date.parse(since))) return false;
  if (until !== undefined && !(at < Date.parse(until))) return false;
  const fields = delivery as unknown as Record<string, unknown>;
  return Object.entries(exact).every(([name, value]) => fields[name] === value);
}
