import { AsyncContext } from './async-context.js';

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
export function presentActor(): Readonly<Actor> {
  return actor.present ?? SYSTEM;
}
