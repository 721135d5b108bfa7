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

/** Does work in the name of an actor; whatever it calls finds that one present. */
export function actAs<Result>(who: Actor, work: () => Promise<Result>): Promise<Result> {
  return actor.run(who, work);
}

/** As {@link actAs}, for work that is only begun. @returns what says that it is done */
export function beginAs(who: Actor, work: () => void): () => void {
  return actor.begin(who, work);
}

/** Says whose the request under way is, once that is known. Reading requests have no actor. */
export function identifyActor(userId: string, username: string): void {
  if (actor.present) Object.assign(actor.present, { userId, name: username });
}

/** Who is at work: the service itself, unless somebody else is. */
export function presentActor(): Readonly<Actor> {
  return actor.present ?? SYSTEM;
}
