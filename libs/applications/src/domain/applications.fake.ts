import { EnvironmentsService } from '#libs/identity/domain';
import type { Page } from '#libs/kernel';
import { FakeEnvironmentsRepository } from '../../../identity/src/domain/repositories.fake.js';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import { Application, type ApplicationContent, type NewContent } from './application.js';
import {
  ApplicationImports,
  ApplicationsRepository,
  type ImportedApplication,
} from './applications.repository.js';
import { ApplicationDeletions, ApplicationsService } from './applications.service.js';

/** Applications in memory, ids from 1. */
export class FakeApplicationsRepository extends ApplicationsRepository {
  readonly all: Application[] = [];
  /** The ids that were locked, in order. */
  readonly locked: string[] = [];

  override find(
    accountId: string,
    id: string,
    { lock } = { lock: false },
  ): Promise<Application | undefined> {
    if (lock) this.locked.push(id);
    return Promise.resolve(this.of(accountId).find((application) => application.id === id));
  }

  override list(accountId: string, { after = '0', limit }: Page): Promise<Application[]> {
    const later = this.of(accountId).filter(({ id }) => Number(id) > Number(after));
    return Promise.resolve(later.slice(0, limit));
  }

  override add(accountId: string, content: NewContent): Promise<string> {
    const id = String(this.all.length + 1);
    const now = new Date();
    const nulls = { voiceUrl: null, messagingUrl: null, partition: null };
    const row = { id, userId: accountId, ...nulls, ...content, version: 1 };
    const times = { createdAt: now, updatedAt: now, deletedAt: null };
    this.all.push(Object.assign(new Application(), row, times));
    return Promise.resolve(id);
  }

  override revise(id: string, revision: Partial<ApplicationContent>): Promise<void> {
    const application = this.all[Number(id) - 1]!;
    const version = application.version + 1;
    Object.assign(application, revision, { version, updatedAt: new Date() });
    return Promise.resolve();
  }

  override remove(id: string): Promise<void> {
    this.all[Number(id) - 1]!.deletedAt = new Date();
    return Promise.resolve();
  }

  private of(accountId: string): Application[] {
    return this.all.filter(({ userId, deletedAt }) => userId === accountId && deletedAt === null);
  }
}

/** Imports into the fake repository. */
export class FakeApplicationImports extends ApplicationImports {
  readonly accounts = new Set<string>();
  hasBegun = false;
  private readonly imported: { id: string; userId: string }[] = [];

  constructor(private readonly applications: FakeApplicationsRepository) {
    super();
  }

  override begin(): Promise<void> {
    this.hasBegun = true;
    return Promise.resolve();
  }

  override takenIds(ids: readonly string[]): Promise<Set<string>> {
    const taken = new Set([...this.applications.all, ...this.imported].map(({ id }) => id));
    return Promise.resolve(new Set(ids.filter((id) => taken.has(id))));
  }

  override knownAccounts(ids: readonly string[]): Promise<Set<string>> {
    return Promise.resolve(new Set(ids.filter((id) => this.accounts.has(id))));
  }

  override addAll(
    applications: readonly ImportedApplication[],
  ): Promise<{ id: string; userId: string }[]> {
    const chosen = applications.flatMap(({ id, userId }) =>
      id === undefined ? [] : [{ id, userId }],
    );
    let last = Math.max(0, ...[...this.applications.all, ...chosen].map(({ id }) => Number(id)));
    const others = applications
      .filter(({ id }) => id === undefined)
      .map(({ userId }) => ({ id: String((last += 1)), userId }));
    const added = [...chosen, ...others];
    this.imported.push(...added);
    return Promise.resolve(added);
  }
}

/** The applications service on fakes. */
export function applicationsOnFakes() {
  const transactions = new FakeTransactions();
  const audit = new FakeAuditTrail(transactions);
  const repository = new FakeApplicationsRepository();
  const imports = new FakeApplicationImports(repository);
  const deletions = new ApplicationDeletions();
  const environments = new EnvironmentsService(
    new FakeEnvironmentsRepository(),
    transactions,
    audit,
  );
  const applications = new ApplicationsService(
    repository,
    imports,
    environments,
    deletions,
    transactions,
    audit,
  );
  return { applications, repository, imports, deletions, transactions, audit };
}
