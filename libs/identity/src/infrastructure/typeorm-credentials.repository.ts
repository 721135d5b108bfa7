import { Injectable } from '@nestjs/common';
import { TypeOrmTransactions } from '#libs/runtime';
import { Credential } from '../domain/credential.js';
import { CredentialsRepository, type NewCredential } from '../domain/credentials.repository.js';

@Injectable()
export class TypeOrmCredentialsRepository extends CredentialsRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  override ofUser(userId: string): Promise<Credential[]> {
    return this.transactions.use((manager) =>
      manager.find(Credential, { where: { userId }, order: { id: 'ASC' } }),
    );
  }

  override async insert(credential: NewCredential): Promise<Credential> {
    const stored = Object.assign(new Credential(), credential);
    // insert() adds the values from the database: the id and the time.
    await this.transactions.use((manager) => manager.insert(Credential, stored));
    return stored;
  }

  override async remove(userId: string, id: string): Promise<boolean> {
    const { affected } = await this.transactions.use((manager) =>
      manager.delete(Credential, { id, userId }),
    );
    return affected === 1;
  }
}
