import { hostname } from 'node:os';
import { idOf, type Schemas } from '#libs/client';
import { rawMember } from '#libs/kernel';
import { type EventKind, notificationBody, signatureHeaders } from '#libs/webhooks/domain';
import { activityOf } from '../api/activity.js';
import { type ApiConnection, RefusedFailure } from '../api/api-connection.js';
import { webhooksPath } from '../api/lists.js';

/** A reserved name that never resolves (RFC 2606). The path identifies this machine and this process. */
const THIS_MACHINE = `https://listen.invalid/${encodeURIComponent(hostname())}/`;
const NAME = 'switchhook listen';
const NOT_FOUND = 404;

/** The events that the command wants. */
interface Wanted {
  events: readonly EventKind[];
  resource: string;
  applicationId: string | undefined;
}

/**
 * Subscriptions that exist while the command runs. After a crash, the next run removes them. They are paused, so
 * nothing is sent to their target.
 */
class OwnSubscriptions {
  private readonly ids: string[] = [];

  constructor(private readonly api: ApiConnection) {}

  /** @throws CommandFailure, after which {@link remove} removes those that exist */
  async create({ events, resource, applicationId }: Wanted): Promise<void> {
    await this.removeLeftovers();
    const targetUrl = `${THIS_MACHINE}${process.pid}`;
    const path = webhooksPath(applicationId);
    for (const event of events) {
      const body = { name: NAME, event, resource, targetUrl };
      const id = idOf(await this.api.json<Schemas['Address']>('POST', path, body));
      this.ids.push(id);
      await this.api.ask('POST', `v1/webhooks/${id}/pause`);
    }
  }

  has(id: string): boolean {
    return this.ids.includes(id);
  }

  /** The newest deliveries of all these subscriptions, oldest first. */
  async deliveries(): Promise<Schemas['Delivery'][]> {
    const lists = this.ids.map((id) =>
      this.api.json<Schemas['Delivery'][]>('GET', `v1/webhooks/${id}/deliveries?limit=1000`),
    );
    return (await Promise.all(lists)).flat().sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** @throws CommandFailure */
  async remove(): Promise<void> {
    for (const id of this.ids.splice(0)) await this.delete(id);
  }

  /** Only those of this machine: for others it is unknown whether they are in use. */
  private async removeLeftovers(): Promise<void> {
    const all = await this.api.json<Schemas['Webhook'][]>('GET', 'v1/webhooks?scope=all');
    for (const { id, name, targetUrl } of all) {
      const isOwn = name === NAME && targetUrl.startsWith(THIS_MACHINE);
      if (isOwn && isGone(targetUrl.slice(THIS_MACHINE.length))) await this.delete(id);
    }
  }

  /** A user or another command may have deleted it already. */
  private async delete(id: string): Promise<void> {
    await this.api.ask('DELETE', `v1/webhooks/${id}`).catch((error: unknown) => {
      if (!(error instanceof RefusedFailure && error.status === NOT_FOUND)) throw error;
    });
  }
}

/** Whether no process has this id. */
function isGone(pid: string): boolean {
  if (!/^[1-9]\d{0,8}$/.test(pid)) return false;
  if (Number(pid) === process.pid) return true;
  try {
    process.kill(Number(pid), 0);
    return false;
  } catch (error) {
    // Otherwise the process belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}

/** A notification as a worker would send it. */
interface Notified {
  headers: Record<string, string>;
  body: Buffer;
}

/**
 * Passes the notifications of an account to a function, one after the other, without a reachable address: it follows
 * the stream with temporary subscriptions, and removes them at the end.
 * @param secrets sign the notifications
 * @param onStart called once nothing can be missed any more
 * @throws CommandFailure
 */
export async function listenByStream(
  api: ApiConnection,
  wanted: Wanted,
  secrets: readonly string[],
  signal: AbortSignal,
  onStart: () => void,
  notify: (notified: Notified) => Promise<void>,
): Promise<void> {
  const own = new OwnSubscriptions(api);
  const seen = new Set<string>();
  let isStarted = false;
  const take = async (delivery: Schemas['Delivery']): Promise<void> => {
    if (!own.has(delivery.webhookId) || seen.has(delivery.id)) return;
    seen.add(delivery.id);
    await notify(await notificationOf(api, delivery, secrets));
  };
  try {
    for await (const { event, data } of activityOf(api, signal)) {
      // Each reconnection sends one more.
      if (event === 'open' && !isStarted) {
        isStarted = true;
        await own.create(wanted);
        onStart();
      } else if (event === 'delivery') await take(JSON.parse(data) as Schemas['Delivery']);
      else if (event === 'interrupted') for (const one of await own.deliveries()) await take(one);
    }
  } finally {
    await own.remove();
  }
}

async function notificationOf(
  api: ApiConnection,
  delivery: Schemas['Delivery'],
  secrets: readonly string[],
): Promise<Notified> {
  const { text } = await api.ask('GET', `v1/events/${delivery.eventId}`);
  const event = JSON.parse(text) as Schemas['EventReport'];
  const body = notificationBody({
    id: delivery.id,
    name: 'switchhook listen',
    event: event.event,
    resource: event.resource,
    accountId: String(event.accountId),
    ...(event.applicationId !== undefined && { applicationId: event.applicationId }),
    occurredAt: new Date(event.occurredAt),
    test: delivery.test,
    data: rawMember(text, 'data') ?? 'null',
  });
  const headers = {
    'content-type': 'application/json',
    ...signatureHeaders(delivery.id, new Date(), body, secrets),
  };
  return { headers, body: Buffer.from(body) };
}
