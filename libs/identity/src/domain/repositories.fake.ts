import type { Page } from '#libs/kernel';
import { Credential, CredentialsRepository, type NewCredential } from './credential.js';
import {
  Environment,
  EnvironmentsRepository,
  type NewEnvironment,
} from './environments.service.js';
import { EnvironmentIdTakenError, UsernameTakenError } from './identity-errors.js';
import { type NewUser, STATUSES, User, type UserStatus, UsersRepository } from './user.js';

/** Users in memory, ids from 1. */
export class FakeUsersRepository extends UsersRepository {
  readonly all: User[] = [];
  private nextId = 1;
  /** The ids that were locked, in order. */
  readonly locked: string[] = [];

  override findById(id: string): Promise<User | undefined> {
    return Promise.resolve(this.all.find((user) => user.id === id));
  }

  override findByUsername(username: string): Promise<User | undefined> {
    return Promise.resolve(this.all.find((user) => user.username === username));
  }

  override page({ after = '0', limit }: Page): Promise<User[]> {
    const later = this.all.filter(({ id }) => Number(id) > Number(after));
    return Promise.resolve(later.slice(0, limit));
  }

  override insert(user: NewUser): Promise<User> {
    if (this.all.some(({ username }) => username === user.username)) {
      return Promise.reject(new UsernameTakenError());
    }
    const { id = String(this.nextId++), joinDate = new Date() } = user;
    const stored = Object.assign(new User(), user, { id, joinDate });
    this.all.push(stored);
    return Promise.resolve(stored);
  }

  override raiseIds(): Promise<void> {
    this.nextId = Math.max(...this.all.map(({ id }) => Number(id)), 0) + 1;
    return Promise.resolve();
  }

  override lock(id: string): Promise<void> {
    this.locked.push(id);
    return Promise.resolve();
  }

  override setStatus(id: string, status: User['status']): Promise<boolean> {
    const user = this.all.find((one) => one.id === id);
    if (!user || user.status === status || !isGiven(user.status)) return Promise.resolve(false);
    user.status = status;
    return Promise.resolve(true);
  }
}

/** Credentials in memory, ids from 1. */
export class FakeCredentialsRepository extends CredentialsRepository {
  all: Credential[] = [];
  private lastId = 0;

  override findByUser(userId: string): Promise<Credential[]> {
    return Promise.resolve(this.all.filter((credential) => credential.userId === userId));
  }

  override insert(credential: NewCredential): Promise<Credential> {
    const generated = {
      id: String((this.lastId += 1)),
      createdAt: new Date(),
      lastUsedAt: null,
    };
    const stored = Object.assign(new Credential(), credential, generated);
    this.all.push(stored);
    return Promise.resolve(stored);
  }

  override remove(userId: string, id: string): Promise<boolean> {
    const left = this.all.filter((one) => one.userId !== userId || one.id !== id);
    const isRemoved = left.length < this.all.length;
    this.all = left;
    return Promise.resolve(isRemoved);
  }

  override removeAll(userId: string): Promise<void> {
    this.all = this.all.filter((one) => one.userId !== userId);
    return Promise.resolve();
  }
}

/** Whether a request can change the status. */
const isGiven = (status: UserStatus) => STATUSES.some((one) => one === status);

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
    if (this.all.has(id)) return Promise.reject(new EnvironmentIdTakenError());
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
