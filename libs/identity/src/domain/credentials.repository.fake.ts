import { Credential } from './credential.js';
import { CredentialsRepository, type NewCredential } from './credentials.repository.js';

/** Credentials in memory, ids from 1. */
export class FakeCredentialsRepository extends CredentialsRepository {
  all: Credential[] = [];
  private lastId = 0;

  override ofUser(userId: string): Promise<Credential[]> {
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
}
