import { AsyncLocalStorage } from 'node:async_hooks';

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

const present = new AsyncLocalStorage<Actor>();

/** Does work in the name of an actor; whatever it calls finds that one present. */
export function actAs<Result>(actor: Actor, work: () => Result): Result {
  return present.run(actor, work);
}

/** Says whose the request under way is, once that is known. Reading requests have no actor. */
export function identifyActor(userId: string, username: string): void {
  const actor = present.getStore();
  if (actor) Object.assign(actor, { userId, name: username });
}

/** Who is at work: the service itself, unless somebody else is. */
export function presentActor(): Readonly<Actor> {
  return present.getStore() ?? SYSTEM;
}
