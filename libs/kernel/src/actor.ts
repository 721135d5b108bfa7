import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that every called function can read without an argument. Before Node.js 24, an AsyncLocalStorage in
 * use slows down every promise of the process (an event took 10% more of an API's time), so it is disabled
 * while no call is running inside.
 */
export class AsyncContext<Value> {
  private readonly storage = new AsyncLocalStorage<Value>();
  private running = 0;

  /** Undefined outside. */
  get current(): Value | undefined {
    return this.storage.getStore();
  }

  async run<Result>(value: Value, work: () => Promise<Result>): Promise<Result> {
    this.running += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.running -= 1;
      if (this.running === 0) this.storage.disable();
    }
  }
}

/** Who changes something, and from where. */
export interface Actor {
  /** The username; without a `userId` it is `cli`, the command line, or `system`, the service. */
  name: string;
  userId?: string;
  /** Address of the client, as far as forwarded headers can be trusted. */
  address?: string | undefined;
  requestId?: string | undefined;
}

const SYSTEM: Readonly<Actor> = { name: 'system' };

const actor = new AsyncContext<Actor>();

/** Runs work in the name of an actor. Everything it calls sees that actor. */
export function actAs<Result>(who: Actor, work: () => Promise<Result>): Promise<Result> {
  return actor.run(who, work);
}

/** The current actor; the service itself by default. */
export function currentActor(): Readonly<Actor> {
  return actor.current ?? SYSTEM;
}
