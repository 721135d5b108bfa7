import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * A value that whatever is called finds present, without being given it. Before Node.js 24 an
 * AsyncLocalStorage makes every promise of the process slower from its first use on (an event took a
 * tenth more of an API's time): so it is switched off while nobody is inside.
 */
export class AsyncContext<Value> {
  private readonly storage = new AsyncLocalStorage<Value>();
  private inside = 0;

  /** Undefined outside. */
  get present(): Value | undefined {
    return this.storage.getStore();
  }

  /** Does work inside. */
  async run<Result>(value: Value, work: () => Promise<Result>): Promise<Result> {
    this.inside += 1;
    try {
      return await this.storage.run(value, work);
    } finally {
      this.leave();
    }
  }

  /** Begins work inside. @returns what says, once, that nothing of it looks for the value any more */
  begin(value: Value, work: () => void): () => void {
    this.inside += 1;
    this.storage.run(value, work);
    return () => this.leave();
  }

  private leave(): void {
    this.inside -= 1;
    if (this.inside === 0) this.storage.disable();
  }
}
