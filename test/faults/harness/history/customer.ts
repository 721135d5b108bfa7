import { setTimeout as sleep } from 'node:timers/promises';
import type { Installation } from '../installation.js';
import type { Random } from '../random.js';
import type { Action } from './history.js';

/** How many of the latest notifications may be cancelled, sent at once or sent again. */
const RECENT = { cancel: 60, send: 60, redeliver: 400 };
const REPLAYED_MS = 20_000;
const BETWEEN_MS = { least: 50, most: 400 };
const STATES = ['succeeded', 'exhausted', 'cancelled'];
/** The actions, weighted by repetition. */
const KINDS = (
  'pause pause resume resume resume off on on on target target ' +
  'cancel cancel cancel cancel send send redeliver redeliver redeliver replay'
).split(' ') as Action['kind'][];

type Asked = Action extends infer One
  ? One extends Action
    ? Omit<One, 'from' | 'to'>
    : never
  : never;

/** Performs and records random actions on deliveries and subscriptions, as customers do. */
export class Customer {
  private readonly replays = new Map<Action, string>();

  constructor(
    private readonly installation: Installation,
    private readonly random: Random,
  ) {}

  async actUntil(end: number): Promise<void> {
    while (Date.now() < end) {
      await this.act();
      await sleep(this.random.between(BETWEEN_MS.least, BETWEEN_MS.most));
    }
  }

  /** Resumes everything, and waits until the replays are finished. */
  async settle(): Promise<void> {
    for (const { subscription } of this.installation.targets.values()) {
      await this.insist({ kind: 'on', subscription: idOf(subscription) });
      await this.insist({ kind: 'resume', subscription: idOf(subscription) });
    }
    for (const [replay, path] of this.replays) {
      replay.to = await this.completionOf(path);
    }
  }

  private act(): Promise<boolean> {
    const { installation, random } = this;
    const kind = random.oneOf(KINDS);
    const { subscription: path } = random.oneOf([...installation.targets.values()]);
    const subscription = idOf(path);
    const dice = random.next();
    switch (kind) {
      case 'cancel':
      case 'send':
      case 'redeliver':
        return this.withDelivery(kind, dice);
      case 'target':
        return this.ask({
          kind,
          subscription,
          target: `${this.pathOf(path)}?${Math.ceil(dice * 3)}`,
        });
      case 'replay':
        return this.ask({ kind, subscription, states: dice < 0.3 ? STATES : STATES.slice(1) });
      default:
        return this.ask({ kind, subscription });
    }
  }

  private async withDelivery(kind: keyof typeof RECENT, dice: number): Promise<boolean> {
    const arrivals = this.installation.receiver.received.slice(-RECENT[kind]);
    // Confirmed notifications are finished, while others are retried.
    const isConfirmed = ({ confirmedAt }: { confirmedAt?: number }) => confirmedAt !== undefined;
    const fit = arrivals.filter((one) => isConfirmed(one) === (kind === 'redeliver'));
    const chosen = fit[Math.floor(dice * fit.length)];
    return chosen !== undefined && this.ask({ kind, delivery: chosen.id });
  }

  private async insist(asked: Asked): Promise<void> {
    while (!(await this.ask(asked))) await sleep(BETWEEN_MS.most);
  }

  /** @returns whether it was answered with 2xx */
  private async ask(asked: Asked): Promise<boolean> {
    const from = Date.now();
    const answer = await this.installation.ask(...this.requestOf(asked)).catch(() => undefined);
    const status = answer?.status ?? 0;
    const isDone = status >= 200 && status < 300;
    // The API refused it, so it had no effect.
    if (status >= 400 && status < 500) return false;
    const to = isDone && asked.kind !== 'replay' ? Date.now() : Infinity;
    const action: Action = { ...asked, from, to };
    this.installation.actions.push(action);
    if (isDone && asked.kind === 'replay') {
      const { href } = JSON.parse(answer?.text ?? '') as { href: string };
      this.replays.set(action, new URL(href).pathname);
    }
    return isDone;
  }

  private requestOf(asked: Asked): [method: string, path: string, body?: object] {
    if ('delivery' in asked) return ['POST', `/v1/deliveries/${asked.delivery}/${asked.kind}`];
    const path = `/v1/webhooks/${asked.subscription}`;
    switch (asked.kind) {
      case 'on':
      case 'off':
        return ['PUT', path, { enabled: asked.kind === 'on' }];
      case 'target':
        return ['PUT', path, { targetUrl: this.installation.receiver.url + asked.target }];
      case 'replay': {
        const since = new Date(Date.now() - REPLAYED_MS).toISOString();
        return ['POST', `${path}/replay`, { since, states: asked.states }];
      }
      default:
        return ['POST', `${path}/${asked.kind}`];
    }
  }

  private async completionOf(path: string): Promise<number> {
    for (;;) {
      const { completedAt } = await this.installation.call<{ completedAt?: string }>('GET', path);
      if (completedAt !== undefined) return Date.parse(completedAt);
      await sleep(BETWEEN_MS.most);
    }
  }

  private pathOf(subscription: string): string {
    const entry = [...this.installation.targets].find(([, to]) => to.subscription === subscription);
    return entry?.[0] ?? '';
  }
}

function idOf(subscription: string): string {
  return subscription.slice(subscription.lastIndexOf('/') + 1);
}
