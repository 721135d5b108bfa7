import { createHash } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';

type Script = (this: unknown, ...args: Argument[] | [Argument[]]) => Promise<unknown>;
type Argument = string | number | Buffer;

/**
 * Lets scripts that are defined on a connection run as EVALSHA or EVAL, and not as the commands that ioredis
 * makes for them: it writes a function onto each, which V8 creates in the old generation, and which keeps the
 * job of that command until a full garbage collection. Pipelines still use those.
 */
export function runScriptsPlainly(connection: Redis | Cluster): void {
  const define = connection.defineCommand.bind(connection);
  const scripts = connection as unknown as Record<string, Script>;
  const defineCommand: typeof define = (name, definition) => {
    define(name, definition);
    const { lua, numberOfKeys } = definition;
    const inPipeline = scripts[name]!;
    if (numberOfKeys === undefined) return;
    const sha = createHash('sha1').update(lua).digest('hex');
    const run: Script = async function (...args) {
      if (this !== connection) return inPipeline.apply(this, args);
      const given = args.flat();
      try {
        return await connection.evalsha(sha, numberOfKeys, ...given);
      } catch (error) {
        if (!(error as Error).message.startsWith('NOSCRIPT')) throw error;
        return connection.eval(lua, numberOfKeys, ...given);
      }
    };
    scripts[name] = run;
  };
  connection.defineCommand = defineCommand;
}
