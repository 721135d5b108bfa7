import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { type Login, Logins } from '../domain/logins.js';
import type { Principal } from '../domain/principal.js';
import { FIND_LOGIN, PRINCIPAL_OF, type PrincipalRow } from './user.statements.js';

@Injectable()
export class PostgresLogins extends Logins {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async find(username: string): Promise<Login | undefined> {
    const rows = await this.transactions.query(FIND_LOGIN, { username });
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
    const [row] = await this.transactions.query(PRINCIPAL_OF, { credentialId });
    return row && principalOf(row);
  }
}

function principalOf(row: PrincipalRow): Principal {
  return { userId: row.user_id, username: row.username, role: row.role };
}
