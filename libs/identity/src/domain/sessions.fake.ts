import type { FakeLogins } from './logins.fake.js';
import { type Session, Sessions } from './sessions.service.js';

const MINUTE_MS = 60_000;
const LONGEST_MS = 12 * 60 * MINUTE_MS;
const IDLE_MS = 30 * MINUTE_MS;
const KEPT = 20;

interface Row {
  hash: string;
  credentialId: string;
  createdAt: number;
  usedAt: number;
}

/** Sessions in memory, of the credentials of {@link FakeLogins}. */
export class FakeSessions extends Sessions {
  rows: Row[] = [];

  constructor(private readonly logins: FakeLogins) {
    super();
  }

  override async insert(hash: string, credentialId: string): Promise<boolean> {
    if (!(await this.logins.principalOf(credentialId))) return false;
    const own = this.rows.filter((row) => row.credentialId === credentialId);
    const old = new Set(own.toSorted((a, b) => b.createdAt - a.createdAt).slice(KEPT - 1));
    const now = Date.now();
    const row = { hash, credentialId, createdAt: now, usedAt: now };
    this.rows = [...this.rows.filter((each) => !old.has(each)), row];
    return true;
  }

  override async find(hash: string): Promise<Session | undefined> {
    const row = this.current(hash);
    const principal = row && (await this.logins.principalOf(row.credentialId));
    if (!principal) return undefined;
    const { credentialId, createdAt } = row;
    return {
      hash,
      credentialId,
      principal,
      createdAt: new Date(createdAt),
      expiresAt: new Date(endOf(row)),
    };
  }

  override use(hash: string): Promise<void> {
    const row = this.current(hash);
    if (row) row.usedAt = Date.now();
    return Promise.resolve();
  }

  override remove(hash: string): Promise<boolean> {
    const before = this.rows.length;
    this.rows = this.rows.filter((row) => row.hash !== hash);
    return Promise.resolve(this.rows.length < before);
  }

  override removeOfUser(userId: string): Promise<void> {
    const own = this.logins.all.filter(({ principal }) => principal.userId === userId);
    const ids = new Set(own.flatMap(({ credentials }) => credentials.map(({ id }) => id)));
    this.rows = this.rows.filter(({ credentialId }) => !ids.has(credentialId));
    return Promise.resolve();
  }

  private current(hash: string): Row | undefined {
    return this.rows.find((row) => row.hash === hash && endOf(row) > Date.now());
  }
}

function endOf({ createdAt, usedAt }: Row): number {
  return Math.min(createdAt + LONGEST_MS, usedAt + IDLE_MS);
}
