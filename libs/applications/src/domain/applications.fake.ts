import { EnvironmentsService } from '#libs/identity/domain';
import { FakeEnvironmentsRepository } from '../../../identity/src/domain/environments.repository.fake.js';
import { FakeAuditTrail, FakeTransactions } from '../../../kernel/src/ports.fake.js';
import { ApplicationDeletions } from './application-deletions.js';
import { FakeApplicationImports } from './application-imports.fake.js';
import { FakeApplicationsRepository } from './applications.repository.fake.js';
import { ApplicationsService } from './applications.service.js';

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
