import { Injectable } from '@nestjs/common';
import { BackgroundTasks, Database } from '#libs/runtime';
import { Activity } from '../../activity/domain/activity.js';
import { countAffected, type Look, lookAtSubscriptions } from './affected-subscriptions.js';
import { ADVANCE, NEXT_RECOVERY, RECOVER } from './recovery.statements.js';

const OPTIONS = { everyMs: 1_000, share: 0.25 };

/**
 * Carries out recoveries, one subscription at a time; replays send the deliveries. Runs in every worker. What is done to
 * a subscription is stored together with the recovery's progress, so another worker can continue exactly after it.
 */
@Injectable()
export class SubscriptionRecoverer {
  constructor(
    tasks: BackgroundTasks,
    private readonly database: Database,
    private readonly activity: Activity,
  ) {
    tasks.add('recovering', OPTIONS, (signal) => this.recover(signal));
  }

  private async recover(signal: AbortSignal): Promise<void> {
    const { run } = this.database;
    const [recovery] = await run(NEXT_RECOVERY);
    if (!recovery) return;
    const { id } = recovery;
    for (let look: Look | undefined; look?.isLast !== true;) {
      look = await lookAtSubscriptions(run, recovery, look?.after ?? recovery.after);
      for (const looked of look.affected) {
        signal.throwIfAborted();
        // Until its deliveries are cancelled, they cannot be sent again: the next run continues here.
        if (looked.effect === 'switched_on' && looked.cancelling) return;
        const found = await countAffected(run, recovery, looked);
        if (!found) continue;
        const { deliveries, missed, accountId } = found;
        const [done] = await run(RECOVER, { id, webhookId: found.id, deliveries, missed });
        // Another worker is ahead.
        if (!done) return;
        this.activity.report(accountId, { kind: 'webhook', id: found.id });
        for (const notice of done.toldBy ?? []) {
          this.activity.report(notice.accountId, { kind: 'event', id: notice.id });
        }
      }
      await run(ADVANCE, { id, after: look.after, isLast: look.isLast });
    }
  }
}
