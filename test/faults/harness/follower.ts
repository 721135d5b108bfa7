import type { IncomingHttpHeaders } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { ask, type Caller } from './call.js';

/** An answer comes within 25 s, even if PostgreSQL is away. A frozen API gives none. */
const PATIENCE_MS = 25_000;
const WAIT_S = 2;
const BETWEEN_MS = 200;

/** Follows the feed of an account by its cursors, as a customer's program does, and repeats what is not answered. */
export class Follower {
  /** The ids of its events, in their order. */
  readonly ids: string[] = [];
  /** Answers that should never come. */
  readonly wrong: string[] = [];
  private cursor: string | undefined;
  private finishing = false;
  private following: Promise<void> | undefined;

  constructor(
    private readonly caller: Caller,
    private readonly end: AbortSignal,
  ) {}

  /** Resolves once it has its first cursor. */
  async start(): Promise<void> {
    while (this.cursor === undefined && !this.end.aborted) await this.read('');
    this.following = this.follow();
  }

  /** Resolves when it has read everything. */
  async finish(): Promise<void> {
    this.finishing = true;
    await this.following;
  }

  private async follow(): Promise<void> {
    while (!this.end.aborted) {
      const wasFinishing = this.finishing;
      const found = await this.read(`?wait=${WAIT_S}&after=${this.cursor!}`);
      if (wasFinishing && found === 0) return;
      await sleep(BETWEEN_MS);
    }
  }

  /** @returns how many events it got; undefined without an answer */
  private async read(query: string): Promise<number | undefined> {
    const late = sleep(PATIENCE_MS, undefined, { ref: false });
    const asked = ask(this.caller, 'GET', `/v1/feed${query}`).catch(() => undefined);
    const answer = await Promise.race([asked, late]);
    if (answer?.status === 200) return this.take(answer.text, answer.headers);
    if (answer && answer.status !== 503) this.wrong.push(`${answer.status} ${answer.text}`);
    return undefined;
  }

  private take(text: string, headers: IncomingHttpHeaders): number {
    const events = JSON.parse(text) as { id: string }[];
    this.ids.push(...events.map(({ id }) => id));
    this.cursor = String(headers['switchhook-cursor']);
    return events.length;
  }
}
