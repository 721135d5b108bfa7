import type { Queue } from 'bull';
import { type RedisConnection, refusalOf } from '#libs/runtime';

/**
 * Removes the jobs `ARGV[3]` and following, which are in the list `active`, and up to `ARGV[2]` jobs from the list
 * `wait`: PostgreSQL tracks their deliveries. Returns the ids of the latter.
 */
const TAKE = `
for at = 3, #ARGV do
  redis.call('LREM', KEYS[2], 1, ARGV[at])
  redis.call('DEL', ARGV[1] .. ARGV[at])
end
local taken = {}
for _ = 1, ARGV[2] do
  local id = redis.call('RPOP', KEYS[1])
  if not id then break end
  redis.call('DEL', ARGV[1] .. id)
  taken[#taken + 1] = id
end
return taken`;

interface Taking {
  takeJobs: (
    wait: string,
    active: string,
    prefix: string,
    most: number,
    ...ended: string[]
  ) => Promise<string[]>;
}

/**
 * Takes jobs from a queue. Bull's `process()` would lose jobs that Redis hands over while a worker stops or
 * reconnects, would hang when it stops without Redis, and costs more commands: a job ends here when it is taken.
 *
 * Like Bull, it waits for a job with a command that moves it from the list `wait` to the list `active`, where `clean`
 * finds it if the answer is lost.
 */
export class JobTaker {
  private readonly client: RedisConnection & Taking;
  /** Jobs that were taken one by one and are not removed yet. */
  private active: string[] = [];

  /** @param blocking the connection on which it waits, so that others do not wait behind it */
  constructor(
    private readonly queue: Queue<unknown>,
    private readonly blocking: RedisConnection,
  ) {
    queue.client.defineCommand('takeJobs', { lua: TAKE, numberOfKeys: 2 });
    this.client = queue.client as typeof this.client;
  }

  /** A job needs both connections, and each one reconnects in its own time. */
  get isConnected(): boolean {
    return [this.client, this.blocking].every(({ status }) => status === 'ready');
  }

  /** How many jobs are to be removed. */
  get activeCount(): number {
    return this.active.length;
  }

  /** Waits for a job, which has to be removed. @returns its id; undefined if there was none */
  async next(waitS: number): Promise<string | undefined> {
    const [wait, active] = [this.queue.toKey('wait'), this.queue.toKey('active')];
    const id = await this.blocking.brpoplpush(wait, active, waitS);
    if (id === null) return undefined;
    this.active.push(id);
    return id;
  }

  /** Removes the jobs that were taken, and up to `most` that wait. @returns the ids of the latter */
  async takeMore(most: number): Promise<string[]> {
    const [wait, active, prefix] = ['wait', 'active', ''].map((key) => this.queue.toKey(key));
    const ended = this.active.splice(0);
    if (ended.length + most === 0) return [];
    try {
      return await this.client.takeJobs(wait!, active!, prefix!, most, ...ended);
    } catch (error) {
      if (!refusalOf(error)) throw error;
      // Jobs may have been on the queue when Redis began to refuse scripts.
      this.queue.emit('error', error);
      const keys = ended.map((id) => this.client.del(prefix! + id));
      await Promise.all([...keys, ...ended.map((id) => this.client.lrem(active!, 1, id))]);
      return [];
    }
  }
}
