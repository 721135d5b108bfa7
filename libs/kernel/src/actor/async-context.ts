import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that every called function can read without receiving it as an argument. Before Node.js 24,
 * an AsyncLocalStorage slows down every promise of the process from its first use on (an event took
 * 10% more of an API's time), so it is disabled while no call is running inside.
 */
export class AsyncContext<Value> {
  private readonly storage = new AsyncLocalStorage<Value>();
  private running = 0;

  /** Undefined outside. */
  get present(): Value | undefined {
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
