import { ApplicationImports, type ImportedApplication } from './application-imports.js';
import type { FakeApplicationsRepository } from './applications.repository.fake.js';

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
