import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { type Login, Logins } from '../domain/logins.js';
import type { Principal } from '../domain/principal.js';
import { FIND_LOGIN, PRINCIPAL_OF } from './user.statements.js';

@Injectable()
export class PostgresLogins extends Logins {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async find(username: string): Promise<Login | undefined> {
    const rows = await this.transactions.query(FIND_LOGIN, { username });
    const [first] = rows;
    if (!first) return undefined;
    const { userId, role, status, salt } = first;
    return {
      principal: { userId, username, role },
      status,
      salt,
      credentials: rows.flatMap(({ id, hash }) => (id && hash ? [{ id, hash }] : [])),
    };
  }

  override async principalOf(credentialId: string): Promise<Principal | undefined> {
    const [principal] = await this.transactions.query(PRINCIPAL_OF, { credentialId });
    return principal;
  }
}
