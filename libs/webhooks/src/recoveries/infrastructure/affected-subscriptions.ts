import type { Run } from '#libs/runtime';
import { dayAt, leastIdAt } from '../../partitions/partition-days.js';
import { countMissed } from '../../replays/missed-events.js';
import { countReplayed } from '../../replays/replayed-deliveries.js';
import { LEAST_ID } from '../../replays/replay-progress.statements.js';
import type { OutageSpan } from '../domain/recovery.js';
import { LOOK_AT_SUBSCRIPTIONS, LOOKED_AT, type LookedAt } from './recovery.statements.js';

/** What a recovery does about a subscription. */
export interface AffectedSubscription extends Pick<
  LookedAt,
  'id' | 'accountId' | 'effect' | 'isOpen'
> {
  /** How many finished deliveries are sent again. */
  deliveries: number;
  /** How many events it missed while it was disabled. */
  missed: number;
}

/** One look, at a limited number of subscriptions. */
export interface Look {
  affected: LookedAt[];
  /** The last subscription that was looked at. */
  after: string;
  isLast: boolean;
}

const valuesOf = ({ since, until }: OutageSpan) => ({
  since: since.toISOString(),
  until: until.toISOString(),
});

export async function lookAtSubscriptions(
  run: Run,
  span: OutageSpan,
  after: string,
): Promise<Look> {
  const rows = await run(LOOK_AT_SUBSCRIPTIONS, { ...valuesOf(span), after });
  return {
    affected: rows.filter(({ isAffected }) => isAffected),
    after: rows.at(-1)?.id ?? after,
    isLast: rows.length < LOOKED_AT,
  };
}

/** @returns undefined if there is nothing to do about it */
export async function countAffected(
  run: Run,
  span: OutageSpan,
  subscription: LookedAt,
): Promise<AffectedSubscription | undefined> {
  const { id, accountId, effect, isOpen, disabledAt } = subscription;
  const { since, until } = valuesOf(span);
  const counts = await countReplayed(
    run,
    [subscription],
    {
      ...{ after: LEAST_ID, until, recoveredSince: since },
      states: effect === 'switched_on' ? ['exhausted', 'cancelled'] : ['exhausted'],
      ...{ event: undefined, applicationId: undefined, status: undefined },
    },
    { first: 0, last: dayAt(span.until) },
  );
  const deliveries = counts.get(id)?.deliveries ?? 0;
  const wasOff = effect === 'switched_on' && disabledAt !== null;
  const missed = wasOff
    ? await countMissed(run, {
        ...{ webhookId: id, after: leastIdAt(disabledAt.getTime()), until: new Date() },
      })
    : 0;
  if (effect === null && deliveries === 0) return undefined;
  return { id, accountId, effect, isOpen, deliveries, missed };
}
