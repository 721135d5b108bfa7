import { Injectable } from '@nestjs/common';
import { type Page, ValidationError } from '#libs/kernel';
import { Database } from '#libs/runtime';
import { daysWithPending } from '../sending/pending-days.js';
import { HOUR_MS } from '../statistics/domain/attempt-history.js';
import type { Load } from '../statistics/account-loads.js';
import { SharedRead } from './overview.js';
import { countWaitingByAccount, SUM_LOADS } from './overview.statements.js';

/** How much an account uses the installation. */
export interface AccountLoad extends Omit<Load, 'busyMs'> {
  /** The account's id. */
  id: string;
  /** The current number of unfinished deliveries, at most 10,000 of each subscription and day. */
  waiting: number;
  /** The account's share of the time that workers spent on attempts, from 0 to 1. */
  share: number;
}

/** What accounts can be sorted by. */
export const ACCOUNT_SORTS = ['share', 'waiting', 'reported', 'delivered', 'failed'] as const;
export type AccountSort = (typeof ACCOUNT_SORTS)[number];

/** How accounts are listed: by default in descending order of their share in the last hour. */
export interface AccountsAsked {
  since?: Date;
  until?: Date;
  sort?: AccountSort;
  order?: 'asc' | 'desc';
}

/** How old an answer may be: it sums up a row for each account and hour, and all pages of a list share it. */
const AGE_MS = 5_000;
const LONGEST_HOURS = 7 * 24;

/** Shows operators which accounts use the installation most. */
@Injectable()
export class AccountLoads {
  /** Of the hours that were asked for last. */
  private latest: { hours: string; read: SharedRead<AccountLoad[]> } | undefined;

  constructor(private readonly database: Database) {}

  /**
   * A page of the accounts with events, attempts or unfinished deliveries. Each page sorts anew, so an account whose figures
   * change may be missing or appear twice.
   * @throws ValidationError
   */
  async list(
    { sort = 'share', order = 'desc', ...range }: AccountsAsked,
    { after, limit }: Page,
  ): Promise<AccountLoad[]> {
    const sign = order === 'asc' ? 1 : -1;
    const all = (await this.readOf(range).get()).toSorted(
      (one, other) => sign * (one[sort] - other[sort]) || Number(one.id) - Number(other.id),
    );
    const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    return start === 0 && after !== undefined ? [] : all.slice(start, start + limit);
  }

  private readOf(range: Pick<AccountsAsked, 'since' | 'until'>): SharedRead<AccountLoad[]> {
    const { since, until } = hoursOf(range);
    const hours = `${since} ${until}`;
    if (this.latest?.hours !== hours) {
      this.latest = { hours, read: new SharedRead(AGE_MS, () => this.readAll(since, until)) };
    }
    return this.latest.read;
  }

  private async readAll(since: string, until: string): Promise<AccountLoad[]> {
    const rows = await this.database.run(SUM_LOADS, { since, until });
    const waiting = await this.waiting();
    const totalMs = rows.reduce((sum, { busyMs }) => sum + busyMs, 0);
    const loads = rows.map(({ accountId: id, busyMs, ...load }) => {
      const share = totalMs === 0 ? 0 : busyMs / totalMs;
      return { id, ...load, waiting: waiting.get(id) ?? 0, share };
    });
    const known = new Set(loads.map(({ id }) => id));
    const others = [...waiting].filter(([id]) => !known.has(id));
    const nothing = { reported: 0, delivered: 0, failed: 0, share: 0 };
    return [...loads, ...others.map(([id, count]) => ({ id, ...nothing, waiting: count }))];
  }

  private async waiting(): Promise<Map<string, number>> {
    const waiting = new Map<string, number>();
    for (const day of await daysWithPending(this.database.run)) {
      for (const row of await this.database.run(countWaitingByAccount(day))) {
        waiting.set(row.accountId, (waiting.get(row.accountId) ?? 0) + row.waiting);
      }
    }
    return waiting;
  }
}

/** The whole hours that a range touches. @throws ValidationError */
function hoursOf(range: Pick<AccountsAsked, 'since' | 'until'>): { since: string; until: string } {
  const untilMs = range.until?.getTime() ?? Date.now();
  const sinceMs = range.since?.getTime() ?? untilMs - HOUR_MS;
  if (sinceMs >= untilMs) {
    const message = 'The query parameter until must be later than since.';
    throw ValidationError.of('until', 'range', message);
  }
  const [first, end] = [Math.floor(sinceMs / HOUR_MS), Math.ceil(untilMs / HOUR_MS)];
  if (end - first > LONGEST_HOURS + 1) {
    const message = 'The query parameter since must be at most seven days before until.';
    throw ValidationError.of('since', 'range', message);
  }
  const timeOf = (hour: number) => new Date(hour * HOUR_MS).toISOString();
  return { since: timeOf(first), until: timeOf(end) };
}
