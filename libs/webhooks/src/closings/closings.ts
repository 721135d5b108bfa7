import { Injectable, type OnModuleInit } from '@nestjs/common';
import {
  AccountClosings,
  type AccountData,
  type AccountRemains,
  MOST_COUNTED,
} from '#libs/identity';
import { TypeOrmTransactions } from '#libs/runtime';
import { daysAtOnce, daysOf, spansOf } from '../partitions/partition-days.js';
import { countOf, END_ACCOUNT, type Kind } from './closings.statements.js';

/** Ends what an account has when it is closed (contract, section 12). Workers remove it. */
@Injectable()
export class Closings implements AccountData, OnModuleInit {
  constructor(
    private readonly transactions: TypeOrmTransactions,
    private readonly closings: AccountClosings,
  ) {}

  onModuleInit(): void {
    this.closings.take(this);
  }

  async end(accountId: string): Promise<void> {
    await this.transactions.query(END_ACCOUNT, { accountId });
  }

  async remains(accountId: string): Promise<AccountRemains> {
    return {
      events: await this.count('events', accountId),
      deliveries: await this.count('deliveries', accountId),
    };
  }

  private async count(kind: Kind, accountId: string): Promise<number> {
    const { peek } = this.transactions;
    let counted = 0;
    for (const span of spansOf(await daysOf(peek, kind), daysAtOnce(kind))) {
      const [row] = await peek(countOf(kind, span), { accountId, most: MOST_COUNTED - counted });
      counted += row!.count;
      if (counted === MOST_COUNTED) break;
    }
    return counted;
  }
}
