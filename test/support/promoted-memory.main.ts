// Prints by how many MB the old generation grows with some thousand scripts, sent by ioredis itself and as connectRedis
// sends them. In a process of its own, because other work of a process is promoted, too.
import 'reflect-metadata';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Redis } from 'ioredis';
import { connectRedis, readConfig } from '#libs/runtime';

type Scripted = Record<'probe', (...args: unknown[]) => Promise<unknown>>;

const SCRIPT = { lua: 'return { KEYS[1], ARGV[1] }', numberOfKeys: 1 };
const config = readConfig();

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Not counting when it shrinks. */
async function promotedMb(connection: Redis): Promise<number> {
  connection.defineCommand('probe', SCRIPT);
  const scripted = connection as unknown as Scripted;
  const args = Array.from({ length: 50 }, (_, number) => `argument ${String(number)}`);
  // What the process allocated before is not promoted meanwhile.
  collectGarbage();
  let [promoted, last] = [0, oldGenerationMb()];
  for (let call = 0; call < 4_000; call += 1) {
    await scripted.probe('key', String(call), ...args);
    const now = oldGenerationMb();
    promoted += Math.max(0, now - last);
    last = now;
  }
  return promoted;
}

function oldGenerationMb(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find((space) => space.space_name === 'old_space')!.space_used_size / 2 ** 20;
}

const plain = new Redis(config.REDIS_URL);
const byItself = await promotedMb(plain);
plain.disconnect();
const ours = connectRedis(config, 'commands') as Redis;
await new Promise((resolve) => ours.once('ready', resolve));
const asWeSendThem = await promotedMb(ours);
process.stdout.write(JSON.stringify({ byItself, asWeSendThem }), () => process.exit());
