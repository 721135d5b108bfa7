import { Injectable } from '@nestjs/common';
import { IsNull } from 'typeorm';
import type { Page } from '#libs/kernel';
import { statement, TypeOrmTransactions } from '#libs/runtime';
import { Application, type ApplicationContent, type NewContent } from '../domain/application.js';
import {
  ApplicationImports,
  ApplicationsRepository,
  type ImportedApplication,
} from '../domain/applications.repository.js';

/** Applications in PostgreSQL. */
@Injectable()
export class TypeOrmApplicationsRepository implements ApplicationsRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {}

  async find(
    accountId: string,
    id: string,
    { lock } = { lock: false },
  ): Promise<Application | undefined> {
    const found = await this.transactions.use((manager) =>
      manager.findOne(Application, {
        where: { id, userId: accountId, deletedAt: IsNull() },
        // This lock still allows foreign keys to refer to the row.
        ...(lock && { lock: { mode: 'for_no_key_update' as const } }),
      }),
    );
    return found ?? undefined;
  }

  list(accountId: string, page: Page): Promise<Application[]> {
    return this.transactions.page(Application, page, { userId: accountId, deletedAt: IsNull() });
  }

  async add(accountId: string, content: NewContent): Promise<string> {
    const row = { userId: accountId, ...content };
    const { identifiers } = await this.transactions.use((manager) =>
      manager.insert(Application, row),
    );
    return (identifiers[0] as { id: string }).id;
  }

  async revise(id: string, revision: Partial<ApplicationContent>): Promise<void> {
    await this.transactions.use((manager) =>
      manager.update(Application, id, {
        ...revision,
        version: () => 'version + 1',
        updatedAt: () => 'now()',
      }),
    );
  }

  async remove(id: string): Promise<void> {
    await this.transactions.use((manager) =>
      manager.update(Application, id, { deletedAt: () => 'now()' }),
    );
  }
}

/** An insert locks the table before it reads the sequence, so meanwhile no id is assigned. */
export const LOCK_APPLICATIONS = statement('LOCK TABLE applications IN SHARE ROW EXCLUSIVE MODE');

/** Moves the sequence past the ids of all rows. */
export const RAISE_IDS = statement('SELECT raise_application_ids()');

export const TAKEN_IDS = idsAmong('applications');
/** Those that are not closed. */
export const KNOWN_ACCOUNTS = idsAmong('users', " AND status IN ('active', 'locked')");

function idsAmong(table: 'applications' | 'users', condition = '') {
  return statement<{ ids: readonly string[] }, { id: string }>(
    `SELECT id FROM ${table} WHERE id = ANY (@ids::bigint[])${condition}`,
  );
}

/** PostgreSQL allows 65,535 parameters in a statement, enough for 65 columns. */
const ROWS_PER_STATEMENT = 1_000;

/** Imports applications into PostgreSQL in bulk. */
@Injectable()
export class TypeOrmApplicationImports implements ApplicationImports {
  constructor(private readonly transactions: TypeOrmTransactions) {}

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
