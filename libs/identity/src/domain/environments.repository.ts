import type { Page } from '#libs/kernel';
import type { Environment } from './environment.js';

/** An environment to create. Without an id, it gets the next free one. */
export type NewEnvironment = Omit<Environment, 'id'> & { id?: string };

/** Stores environments. */
export abstract class EnvironmentsRepository {
  abstract findById(id: string): Promise<Environment | undefined>;
  /** In ascending order of id. */
  abstract page(page: Page): Promise<Environment[]>;
  /** @throws EnvironmentIdTaken */
  abstract insert(environment: NewEnvironment): Promise<Environment>;
}
