import { Activity, type Happening } from './activity.js';

/** Activity in memory. */
export class FakeActivity extends Activity {
  /** What was reported, oldest first. */
  readonly reported: { accountId: string; happening: Happening }[] = [];

  override report(accountId: string, happening: Happening): void {
    this.reported.push({ accountId, happening });
  }
}
