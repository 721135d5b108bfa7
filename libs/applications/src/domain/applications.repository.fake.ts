import type { Page } from '#libs/kernel';
import { Application, type ApplicationContent } from './application.js';
import { ApplicationsRepository } from './applications.repository.js';

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

  override add(accountId: string, content: ApplicationContent): Promise<string> {
    const id = String(this.all.length + 1);
    const now = new Date();
    const row = { id, userId: accountId, ...content, partition: null, version: 1 };
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
