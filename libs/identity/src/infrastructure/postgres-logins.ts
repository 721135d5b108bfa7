import { Injectable } from '@nestjs/common';
import { Database } from '#libs/runtime';
import { type Login, Logins } from '../domain/logins.js';
import type { Principal } from '../domain/principal.js';
import type { Role, Status } from '../domain/user.js';

const FIND = {
  name: 'logins.find',
  text: `SELECT u.id AS user_id, u.username, u.role, u.status, u.salt, c.id, c.hash
    FROM users u LEFT JOIN credentials c
      ON c.user_id = u.id AND (c.expires_at IS NULL OR c.expires_at > now())
    WHERE u.username = $1 ORDER BY c.id`,
};

const PRINCIPAL_OF = {
  name: 'logins.principal-of',
  text: `SELECT u.id AS user_id, u.username, u.role
    FROM credentials c JOIN users u ON u.id = c.user_id
    WHERE c.id = $1 AND u.status = 'active' AND (c.expires_at IS NULL OR c.expires_at > now())`,
};

interface PrincipalRow {
  user_id: string;
  username: string;
  role: Role;
}

interface LoginRow extends PrincipalRow {
  status: Status;
  salt: Buffer;
  id: string | null;
  hash: Buffer | null;
}

@Injectable()
export class PostgresLogins extends Logins {
  constructor(private readonly database: Database) {
    super();
  }

  override async find(username: string): Promise<Login | undefined> {
    const rows = await this.database.query<LoginRow>(FIND, [username]);
    const [user] = rows;
    if (!user) return undefined;
    return {
      principal: principalOf(user),
      status: user.status,
      salt: user.salt,
      credentials: rows.flatMap(({ id, hash }) => (id && hash ? [{ id, hash }] : [])),
    };
  }

  override async principalOf(credentialId: string): Promise<Principal | undefined> {
    const [row] = await this.database.query<PrincipalRow>(PRINCIPAL_OF, [credentialId]);
    return row && principalOf(row);
  }
}

function principalOf(row: PrincipalRow): Principal {
  return { userId: row.user_id, username: row.username, role: row.role };
}
