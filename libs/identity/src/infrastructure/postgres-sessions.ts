import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { type Session, Sessions } from '../domain/session.js';
import { FIND_SESSION, INSERT_SESSION, REMOVE_SESSION, USE_SESSION } from './session.statements.js';

@Injectable()
export class PostgresSessions extends Sessions {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async insert(hash: string, credentialId: string): Promise<void> {
    await this.transactions.query(INSERT_SESSION, { hash, credentialId });
  }

  override async find(hash: string): Promise<Session | undefined> {
    const [row] = await this.transactions.query(FIND_SESSION, { hash });
    if (!row) return undefined;
    const { credentialId, createdAt, expiresAt, ...principal } = row;
    return { hash, credentialId, principal, createdAt, expiresAt };
  }

  override async use(hash: string): Promise<void> {
    await this.transactions.query(USE_SESSION, { hash });
  }

  override async remove(hash: string): Promise<void> {
    await this.transactions.query(REMOVE_SESSION, { hash });
  }
}
