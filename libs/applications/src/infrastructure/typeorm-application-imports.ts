import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { Application } from '../domain/application.js';
import { ApplicationImports, type ImportedApplication } from '../domain/application-imports.js';

/** PostgreSQL takes 65,535 parameters in a statement: enough for 65 columns. */
const ROWS_PER_STATEMENT = 1_000;

/** Brings applications into PostgreSQL in bulk. */
@Injectable()
export class TypeOrmApplicationImports extends ApplicationImports {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async begin(): Promise<void> {
    // An insert takes its lock before it asks the sequence: meanwhile nobody is given an id.
    await this.transactions.manager.query('LOCK TABLE applications IN SHARE ROW EXCLUSIVE MODE');
  }

  takenIds(ids: readonly string[]): Promise<Set<string>> {
    return this.idsAmong('applications', ids);
  }

  knownAccounts(ids: readonly string[]): Promise<Set<string>> {
    return this.idsAmong('users', ids);
  }

  async addAll(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]> {
    // The chosen ids first: only then can the sequence give out others.
    const chosen = await this.insert(applications.filter(({ id }) => id !== undefined));
    await this.transactions.manager.query('SELECT raise_application_ids()');
    const others = await this.insert(applications.filter(({ id }) => id === undefined));
    return [...chosen, ...others];
  }

  private async insert(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]> {
    const inserted: { id: string; userId: string }[] = [];
    for (let at = 0; at < applications.length; at += ROWS_PER_STATEMENT) {
      const rows = applications.slice(at, at + ROWS_PER_STATEMENT);
      const { identifiers } = await this.transactions.manager.insert(Application, rows);
      rows.forEach(({ userId }, index) => {
        inserted.push({ id: (identifiers[index] as { id: string }).id, userId });
      });
    }
    return inserted;
  }

  private async idsAmong(
    table: 'applications' | 'users',
    ids: readonly string[],
  ): Promise<Set<string>> {
    const rows = await this.transactions.manager.query<{ id: string }[]>(
      `SELECT id FROM ${table} WHERE id = ANY ($1::bigint[])`,
      [ids],
    );
    return new Set(rows.map(({ id }) => id));
  }
}
