import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { type Session, Sessions } from '../domain/session.js';
import {
  FIND_SESSION,
  INSERT_SESSION,
  REMOVE_SESSION,
  REMOVE_SESSIONS_OF_USER,
  USE_SESSION,
} from './session.statements.js';

@Injectable()
export class PostgresSessions extends Sessions {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override async insert(hash: string, credentialId: string): Promise<boolean> {
    const inserted = await this.transactions.query(INSERT_SESSION, { hash, credentialId });
    return inserted.length > 0;
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

  override async remove(hash: string): Promise<boolean> {
    return (await this.transactions.query(REMOVE_SESSION, { hash })).length > 0;
  }

  override async removeOfUser(userId: string): Promise<void> {
    await this.transactions.query(REMOVE_SESSIONS_OF_USER, { userId });
  }
}
