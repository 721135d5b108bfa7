import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import type { AttemptCount } from '../domain/attempt-counts.js';
import { AttemptHistoryStore, type Buckets } from '../domain/attempt-history.js';
import { ALL, READ_COUNTS } from './attempt-counts.statements.js';

@Injectable()
export class PostgresAttemptHistoryStore extends AttemptHistoryStore {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override counts(
    accountId: string,
    webhookId: string | undefined,
    { sinceMs, widthMs, count }: Buckets,
  ): Promise<AttemptCount[]> {
    return this.transactions.query(READ_COUNTS, {
      accountId,
      webhookId: webhookId ?? ALL,
      since: new Date(sinceMs).toISOString(),
      until: new Date(sinceMs + count * widthMs).toISOString(),
      widthS: widthMs / 1_000,
    });
  }
}
