// Preloaded into a process to make its resolvers ask NAME_SERVER.
import { Resolver } from 'node:dns/promises';

const server = process.env.NAME_SERVER ?? '';
/** The resolvers that ask it. @type {WeakSet<Resolver>} */
const redirected = new WeakSet();

for (const name of /** @type {const} */ (['resolve4', 'resolve6', 'resolveNs'])) {
  const ask = Resolver.prototype[name];
  Object.assign(Resolver.prototype, {
    /** @this {Resolver} @param {string} hostname */
    [name](hostname) {
      if (!redirected.has(this)) this.setServers([server]);
      redirected.add(this);
      return ask.call(this, hostname);
    },
  });
}
