import type { Queue } from 'bull';
import { type RedisConnection, refusalOf } from '#libs/runtime';

/**
 * Moves a job out of the list `active`, and up to `ARGV[3]` more out of the list `wait`, and deletes them: PostgreSQL
 * tracks their deliveries. Returns their data.
 */
const TAKE = `
local taken = {}
local function take(id)
  local job = ARGV[1] .. id
  local data = redis.call('HGET', job, 'data')
  redis.call('DEL', job)
  if data then taken[#taken + 1] = data end
end
redis.call('LREM', KEYS[2], 1, ARGV[2])
take(ARGV[2])
for _ = 1, ARGV[3] do
  local id = redis.call('RPOP', KEYS[1])
  if not id then break end
  take(id)
end
return taken`;

interface Taking {
  takeJobs: (
    wait: string,
    active: string,
    prefix: string,
    id: string,
    more: number,
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

  /**
   * Waits for a job, and takes others that wait with it.
   * @param more at most how many others, read when there is a job
   * @returns their data
   */
  async take(waitS: number, more: () => number): Promise<string[]> {
    const [wait, active] = [this.queue.toKey('wait'), this.queue.toKey('active')];
    const id = await this.blocking.brpoplpush(wait, active, waitS);
    if (id === null) return [];
    const prefix = this.queue.toKey('');
    try {
      return await this.client.takeJobs(wait, active, prefix, id, more());
    } catch (error) {
      if (!refusalOf(error)) throw error;
      this.queue.emit('error', error);
      return this.takeOne(active, prefix, id);
    }
  }

  /** Without a script, for jobs that were on the queue when Redis began to refuse them. */
  private async takeOne(active: string, prefix: string, id: string): Promise<string[]> {
    const data = await this.client.hget(prefix + id, 'data');
    await Promise.all([this.client.lrem(active, 1, id), this.client.del(prefix + id)]);
    return data === null ? [] : [data];
  }
}
