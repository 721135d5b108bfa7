import type { Schemas } from '#libs/client';
import type { EventKind } from '#libs/webhooks/domain';
import type { ApiConnection } from '../api/api-connection.js';

/** No address will ever have this name (RFC 2606). */
const NOWHERE = 'https://listen.invalid/';
const NAME = 'switchhook listen';

export interface OwnSubscription {
  id: string;
  secret: string;
}

/** Which events the command wants. */
export interface Wanted {
  events: readonly EventKind[];
  resource: string;
  applicationId: string | undefined;
}

/** Subscriptions that exist while the command runs. They are paused, so nothing is sent to their target. */
export class OwnSubscriptions {
  private readonly all: OwnSubscription[] = [];

  constructor(private readonly api: ApiConnection) {}

  /** @throws CommandFailure, after which {@link remove} removes those that exist */
  async create({ events, resource, applicationId }: Wanted): Promise<void> {
    const path =
      applicationId === undefined ? 'v1/webhooks' : `v1/applications/${applicationId}/webhooks`;
    for (const event of events) {
      const body = { name: NAME, event, resource, targetUrl: NOWHERE };
      const { href } = await this.api.json<{ href: string }>('POST', path, body);
      const own = { id: href.slice(href.lastIndexOf('/') + 1), secret: '' };
      this.all.push(own);
      await this.api.ask('POST', `v1/webhooks/${own.id}/pause`);
      const key = await this.api.json<{ secret: string }>('GET', `v1/webhooks/${own.id}/secret`);
      own.secret = key.secret;
    }
  }

  find(id: string): OwnSubscription | undefined {
    return this.all.find((own) => own.id === id);
  }

  /** The newest deliveries of all of them, oldest first. */
  async deliveries(): Promise<Schemas['Delivery'][]> {
    const lists = this.all.map(({ id }) =>
      this.api.json<Schemas['Delivery'][]>('GET', `v1/webhooks/${id}/deliveries?limit=1000`),
    );
    return (await Promise.all(lists)).flat().sort((one, other) => (one.id < other.id ? -1 : 1));
  }

  /** @throws CommandFailure */
  async remove(): Promise<void> {
    for (const { id } of this.all.splice(0)) await this.api.ask('DELETE', `v1/webhooks/${id}`);
  }
}
