import { FakeLinks } from './links.fake.js';
import type { FakeLogins } from './logins.fake.js';
import type { Principal } from './logins.js';
import { type Session, Sessions } from './sessions.service.js';

const MINUTE_MS = 60_000;
const LONGEST_MS = 12 * 60 * MINUTE_MS;
const IDLE_MS = 30 * MINUTE_MS;
const KEPT = 20;

interface Row {
  hash: string;
  credentialId?: string;
  linkId?: string;
  createdAt: number;
  usedAt: number;
}

/** Sessions in memory, of the credentials of {@link FakeLogins} and of links. */
export class FakeSessions extends Sessions {
  rows: Row[] = [];

  constructor(
    private readonly logins: FakeLogins,
    readonly links = new FakeLinks(logins),
  ) {
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

  override insertWithLink(hash: string, linkId: string): Promise<boolean> {
    const now = Date.now();
    const isUsedNow = this.links.use(linkId);
    if (isUsedNow) this.rows.push({ hash, linkId, createdAt: now, usedAt: now });
    return Promise.resolve(isUsedNow);
  }

  override async find(hash: string): Promise<Session | undefined> {
    const row = this.current(hash);
    const principal = row && (await this.principalOf(row));
    if (!principal) return undefined;
    const { credentialId, linkId = '', createdAt } = row;
    return {
      hash,
      ...(credentialId === undefined ? { linkId } : { credentialId }),
      principal,
      createdAt: new Date(createdAt),
      expiresAt: new Date(this.endOf(row)),
    };
  }

  private principalOf({ credentialId, linkId }: Row): Promise<Principal | undefined> {
    if (credentialId !== undefined) return this.logins.principalOf(credentialId);
    return Promise.resolve(this.links.principalOf(linkId!));
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
    const own = this.logins.all.filter(({ user }) => user.userId === userId);
    const ids = own.flatMap(({ credentials }) => credentials.map(({ id }) => id));
    const links = this.links.removeOfUser(userId, ids);
    this.rows = this.rows.filter(
      ({ credentialId = '', linkId = '' }) =>
        !ids.includes(credentialId) && !links.includes(linkId),
    );
    return Promise.resolve();
  }

  private current(hash: string): Row | undefined {
    return this.rows.find((row) => row.hash === hash && this.endOf(row) > Date.now());
  }

  private endOf({ createdAt, usedAt, linkId }: Row): number {
    const ofLink = linkId === undefined ? Infinity : this.links.endOf(linkId);
    return Math.min(createdAt + LONGEST_MS, usedAt + IDLE_MS, ofLink);
  }
}
