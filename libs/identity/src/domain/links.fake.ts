import type { FakeLogins } from './logins.fake.js';
import { Links, type NewLink } from './links.service.js';
import type { LinkMatch, Principal } from './logins.js';

interface Row extends NewLink {
  id: string;
  endsAt: Date;
  isUsed: boolean;
}

/** Links in memory, of the users of {@link FakeLogins}. */
export class FakeLinks extends Links {
  rows: Row[] = [];

  constructor(private readonly logins: FakeLogins) {
    super();
  }

  override insert(link: NewLink): Promise<{ id: string; endsAt: Date } | undefined> {
    if (!this.userOf(link) || !this.isMade(link)) return Promise.resolve(undefined);
    const id = String(this.rows.length + 1);
    const row = { ...link, id, endsAt: new Date(Date.now() + link.seconds * 1_000), isUsed: false };
    this.rows.push(row);
    return Promise.resolve({ id, endsAt: row.endsAt });
  }

  override find(hash: string): Promise<LinkMatch | undefined> {
    const row = this.rows.find((one) => one.hash === hash && isOpen(one));
    const principal = row && this.principalOf(row.id);
    return Promise.resolve(principal && { linkId: row.id, principal });
  }

  /** @returns false if it can no longer be used */
  use(id: string): boolean {
    const row = this.rows.find((one) => one.id === id);
    if (!row || !isOpen(row) || !this.principalOf(id)) return false;
    row.isUsed = true;
    return true;
  }

  /** The user of a link, which may be used; undefined if the credential that made it is not valid. */
  principalOf(id: string): Principal | undefined {
    const row = this.rows.find((one) => one.id === id);
    const user = row && this.isMade(row) ? this.userOf(row) : undefined;
    return row && user && { ...user, scope: row.scope };
  }

  /** In ms since 1970. */
  endOf(id: string): number {
    return this.rows.find((one) => one.id === id)?.endsAt.getTime() ?? 0;
  }

  /** @param credentials of the user @returns the ids */
  removeOfUser(userId: string, credentials: readonly string[]): string[] {
    const own = this.rows
      .filter((one) => one.userId === userId || credentials.includes(one.credentialId))
      .map(({ id }) => id);
    this.rows = this.rows.filter(({ id }) => !own.includes(id));
    return own;
  }

  /** Whether the credential that makes a link is valid. */
  private isMade({ credentialId }: NewLink): boolean {
    return this.logins.all.some(
      ({ status, credentials }) =>
        status === 'active' && credentials.some(({ id }) => id === credentialId),
    );
  }

  private userOf({ userId }: Pick<NewLink, 'userId'>) {
    return this.logins.all.find((one) => one.status === 'active' && one.user.userId === userId)
      ?.user;
  }
}

function isOpen({ isUsed, endsAt }: Row): boolean {
  return !isUsed && endsAt.getTime() > Date.now();
}
