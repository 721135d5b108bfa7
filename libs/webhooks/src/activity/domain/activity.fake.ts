import { Activity, type Change } from './activity.js';

/** Activity in memory. */
export class FakeActivity extends Activity {
  /** What was reported, oldest first. */
  readonly reported: { accountId: string; change: Change }[] = [];

  override report(accountId: string, change: Change): void {
    this.reported.push({ accountId, change });
  }
}
