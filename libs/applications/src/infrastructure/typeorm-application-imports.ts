import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { Application } from '../domain/application.js';
import { ApplicationImports, type ImportedApplication } from '../domain/application-imports.js';
import {
  KNOWN_ACCOUNTS,
  LOCK_APPLICATIONS,
  RAISE_IDS,
  TAKEN_IDS,
} from './application-import.statements.js';

/** PostgreSQL allows 65,535 parameters in a statement, enough for 65 columns. */
const ROWS_PER_STATEMENT = 1_000;

/** Imports applications into PostgreSQL in bulk. */
@Injectable()
export class TypeOrmApplicationImports extends ApplicationImports {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async begin(): Promise<void> {
    await this.transactions.query(LOCK_APPLICATIONS);
  }

  async takenIds(ids: readonly string[]): Promise<Set<string>> {
    return idsOf(await this.transactions.query(TAKEN_IDS, { ids }));
  }

  async knownAccounts(ids: readonly string[]): Promise<Set<string>> {
    return idsOf(await this.transactions.query(KNOWN_ACCOUNTS, { ids }));
  }

  async addAll(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]> {
    // Applications with ids come first, because the sequence must continue after those.
    const chosen = await this.insert(applications.filter(({ id }) => id !== undefined));
    await this.transactions.query(RAISE_IDS);
    const others = await this.insert(applications.filter(({ id }) => id === undefined));
    return [...chosen, ...others];
  }

  private async insert(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]> {
    const inserted: { id: string; userId: string }[] = [];
    for (let at = 0; at < applications.length; at += ROWS_PER_STATEMENT) {
      const rows = applications.slice(at, at + ROWS_PER_STATEMENT);
      const { identifiers } = await this.transactions.use((manager) =>
        manager.insert(Application, rows),
      );
      rows.forEach(({ userId }, index) => {
        inserted.push({ id: (identifiers[index] as { id: string }).id, userId });
      });
    }
    return inserted;
  }
}

function idsOf(rows: readonly { id: string }[]): Set<string> {
  return new Set(rows.map(({ id }) => id));
}
