import { Injectable } from '@nestjs/common';

type Listener = (applicationId: string) => Promise<void>;

/**
 * Tells the contexts above that an application is being deleted, inside the transaction that
 * deletes it: what belongs to the application goes with it, or nothing does.
 */
@Injectable()
export class ApplicationDeletions {
  private readonly listeners: Listener[] = [];

  /** A listener that fails undoes the deletion. */
  subscribe(listener: Listener): void {
    this.listeners.push(listener);
  }

  async announce(applicationId: string): Promise<void> {
    for (const listener of this.listeners) await listener(applicationId);
  }
}
