import { Injectable } from '@nestjs/common';

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
