import { AsyncContext } from './async-context.js';

/** Who changes something, and from where. */
export interface Actor {
  /** The username; without a `userId` it is `cli`, the command line, or `system`, the service. */
  name: string;
  userId?: string;
  /** Address of the client, as far as forwarded headers can be trusted. */
  address?: string;
  requestId?: string;
}

const SYSTEM: Readonly<Actor> = { name: 'system' };

const actor = new AsyncContext<Actor>();

/** Runs work in the name of an actor. Everything it calls sees that actor. */
export function actAs<Result>(who: Actor, work: () => Promise<Result>): Promise<Result> {
  return actor.run(who, work);
}

/** Like {@link actAs}, for work that ends later. @returns a function to call when the work is done */
export function beginAs(who: Actor, work: () => void): () => void {
  return actor.begin(who, work);
}

/** Names the user of the current request, once it is known. Requests that only read have no actor. */
export function identifyActor(userId: string, username: string): void {
  if (actor.present) Object.assign(actor.present, { userId, name: username });
}

/** The current actor; the service itself by default. */
export function presentActor(): Readonly<Actor> {
  return actor.present ?? SYSTEM;
}
