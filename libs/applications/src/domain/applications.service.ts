import { Injectable } from '@nestjs/common';
import { EnvironmentsService } from '#libs/identity/domain';
import {
  AuditTrail,
  bidiFaults,
  type FieldFault,
  isNumericId,
  NotFoundError,
  type Page,
  recordFault,
  Transactions,
  ValidationError,
} from '#libs/kernel';
import { readImport } from './application-import.js';
import {
  type Application,
  type ApplicationContent,
  type ApplicationFields,
  contentOf,
  missingUrlFaults,
  type NewApplication,
} from './application.js';
import {
  ApplicationImports,
  ApplicationsRepository,
  type ImportedApplication,
} from './applications.repository.js';

type Listener = (applicationId: string) => Promise<void>;

/**
 * Notifies other contexts that an application is being deleted, inside the same transaction, so that
 * everything that belongs to the application is deleted with it, or nothing is.
 */
@Injectable()
export class ApplicationDeletions {
  private readonly listeners: Listener[] = [];

  /** If a listener fails, the deletion is rolled back. */
  subscribe(listener: Listener): void {
    this.listeners.push(listener);
  }

  async announce(applicationId: string): Promise<void> {
    for (const listener of this.listeners) await listener(applicationId);
  }
}

const UNKNOWN_ENVIRONMENT = 'must name an environment that exists';

/** Throws unless the stored version is the one that the caller expects. */
type VersionCheck = (version: number) => void;

/** The applications of all accounts. For a caller, another account's application does not exist. */
@Injectable()
export class ApplicationsService {
  constructor(
    private readonly applications: ApplicationsRepository,
    private readonly imports: ApplicationImports,
    private readonly environments: EnvironmentsService,
    private readonly deletions: ApplicationDeletions,
    private readonly transactions: Transactions,
    private readonly audit: AuditTrail,
  ) {}

  /** In ascending order of id. */
  list(accountId: string, page: Page): Promise<Application[]> {
    return this.applications.list(accountId, page);
  }

  /** @throws NotFoundError */
  get(accountId: string, id: string): Promise<Application> {
    return this.required(accountId, id, { lock: false });
  }

  /**
   * Gets an application and prevents its change or deletion until the caller's transaction ends.
   * @throws NotFoundError
   */
  getLocked(accountId: string, id: string): Promise<Application> {
    return this.required(accountId, id, { lock: true });
  }

  /**
   * @returns the id of the new application
   * @throws ValidationError
   */
  async create(accountId: string, application: NewApplication): Promise<string> {
    const content = contentOf(application);
    refuseFaults([...missingUrlFaults(content), ...(await this.environmentFaults(content))]);
    return this.transactions.run(async () => {
      const id = await this.applications.add(accountId, content);
      await this.audit.record({ action: 'application.create', resourceId: id, accountId });
      return id;
    });
  }

  /**
   * Updates an application. If no value changes, nothing is written.
   * @returns the resulting version
   * @throws NotFoundError, PreconditionFailedError, ValidationError
   */
  async update(
    accountId: string,
    id: string,
    changes: ApplicationFields,
    check: VersionCheck,
  ): Promise<number> {
    return this.transactions.run(async () => {
      const application = await this.getLocked(accountId, id);
      check(application.version);
      const revision = application.revisedBy(changes);
      refuseFaults([
        ...missingUrlFaults(application, revision),
        ...bidiFaults(revision),
        ...(await this.environmentFaults(revision)),
      ]);
      if (Object.keys(revision).length === 0) return application.version;
      await this.applications.revise(id, revision);
      const fields = fieldsOf(revision);
      await this.audit.record({ action: 'application.update', resourceId: id, accountId, fields });
      return application.version + 1;
    });
  }

  /**
   * Deletes an application and everything that belongs to it.
   * @throws NotFoundError, PreconditionFailedError
   */
  async delete(accountId: string, id: string, check: VersionCheck): Promise<void> {
    await this.transactions.run(async () => {
      const application = await this.getLocked(accountId, id);
      check(application.version);
      await this.applications.remove(id);
      await this.audit.record({ action: 'application.delete', resourceId: id, accountId });
      await this.deletions.announce(id);
    });
  }

  /**
   * Imports applications that were created elsewhere, in the form of the API's answers: all of them or none.
   * It adds no defaults: without `environment` they have none.
   * @returns the number of applications
   * @throws ValidationError whose faults contain a JSON Pointer, such as `/3/name`
   */
  async import(records: unknown): Promise<number> {
    const { applications, faults } = readImport(records);
    refuseFaults(faults);
    await this.transactions.run(async () => {
      await this.imports.begin();
      refuseFaults(await this.unknownReferences(applications));
      const added = await this.imports.addAll(applications);
      await this.audit.record(
        ...added.map(({ id, userId }) => ({
          action: 'application.import' as const,
          resourceId: id,
          accountId: userId,
        })),
      );
    });
    return applications.length;
  }

  private async unknownReferences(
    applications: readonly ImportedApplication[],
  ): Promise<FieldFault[]> {
    const accounts = await this.imports.knownAccounts(applications.map(({ userId }) => userId));
    const taken = await this.imports.takenIds(applications.flatMap(({ id }) => id ?? []));
    const unknownEnvironments = await this.unknownEnvironments(applications);
    return applications.flatMap(({ id, userId, environmentId }, index) => [
      ...(id !== undefined && taken.has(id)
        ? [recordFault(index, 'id', 'conflict', 'is taken')]
        : []),
      ...(accounts.has(userId)
        ? []
        : [recordFault(index, 'userId', 'unknown_reference', 'names no account')]),
      ...(environmentId != null && unknownEnvironments.has(environmentId)
        ? [recordFault(index, 'environment', 'unknown_reference', UNKNOWN_ENVIRONMENT)]
        : []),
    ]);
  }

  private async unknownEnvironments(
    applications: readonly ImportedApplication[],
  ): Promise<Set<string>> {
    const unknown = new Set(applications.flatMap(({ environmentId }) => environmentId ?? []));
    for (const id of [...unknown]) {
      if (await this.environments.exists(id)) unknown.delete(id);
    }
    return unknown;
  }

  private async required(
    accountId: string,
    id: string,
    options: { lock: boolean },
  ): Promise<Application> {
    const found = isNumericId(id)
      ? await this.applications.find(accountId, id, options)
      : undefined;
    if (!found) throw new NotFoundError('application');
    return found;
  }

  private async environmentFaults({
    environmentId,
  }: Partial<Pick<Application, 'environmentId'>>): Promise<FieldFault[]> {
    if (environmentId == null || (await this.environments.exists(environmentId))) return [];
    const message = `environment ${UNKNOWN_ENVIRONMENT}.`;
    return [{ field: 'environment', code: 'unknown_reference', message }];
  }
}

/** The names of the revised fields in the API. */
function fieldsOf(revision: Partial<ApplicationContent>): string[] {
  return Object.keys(revision).map((name) => (name === 'environmentId' ? 'environment' : name));
}

function refuseFaults(faults: FieldFault[]): void {
  if (faults.length > 0) throw new ValidationError(faults);
}
