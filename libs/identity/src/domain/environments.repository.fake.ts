import type { Page } from '#libs/kernel';
import { Environment } from './environment.js';
import { EnvironmentsRepository, type NewEnvironment } from './environments.repository.js';
import { EnvironmentIdTaken } from './identity-errors.js';

/** Environments in memory; a new installation has two. */
export class FakeEnvironmentsRepository extends EnvironmentsRepository {
  private readonly all = new Map<string, Environment>();
  private lastId = 0;

  constructor() {
    super();
    void this.insert({ name: 'Development', type: 'development', billable: false });
    void this.insert({ name: 'Production', type: 'production', billable: true });
  }

  override findById(id: string): Promise<Environment | undefined> {
    return Promise.resolve(this.all.get(id));
  }

  override page({ after = '-1', limit }: Page): Promise<Environment[]> {
    const later = [...this.all.values()].filter(({ id }) => Number(id) > Number(after));
    const sorted = later.sort((one, other) => Number(one.id) - Number(other.id));
    return Promise.resolve(sorted.slice(0, limit));
  }

  override insert(environment: NewEnvironment): Promise<Environment> {
    const id = environment.id ?? this.nextId();
    if (this.all.has(id)) return Promise.reject(new EnvironmentIdTaken());
    const stored = Object.assign(new Environment(), environment, { id });
    this.all.set(id, stored);
    return Promise.resolve(stored);
  }

  private nextId(): string {
    do this.lastId += 1;
    while (this.all.has(String(this.lastId)));
    return String(this.lastId);
  }
}
