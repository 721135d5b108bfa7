import { once } from 'node:events';
import { setImmediate } from 'node:timers/promises';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { endOf, type HrefBuilder, hrefBuilder, readFairly, readQuery } from '#libs/http';
import type { Principal } from '#libs/identity';
import { CurrentUser } from '#libs/identity/http';
import { UnavailableError } from '#libs/kernel';
import { AttemptView, DeliveryView, visibleAttempt } from '../../deliveries/delivery.view.js';
import { WebhookView } from '../../subscriptions/webhook.view.js';
import { ActivityLog, type Entry } from '../activity-log.js';
import { ActivityReader, type ShownChange } from '../activity-reader.js';

/** A client that has read nothing for so long, with its buffers full, is disconnected. */
const STALLED_MS = 10_000;
/** How often a stream checks its credential, whose row is read once a second at most. */
const CHECK_MS = 250;
const RECONNECT_MS = 1_000;
/** In characters. */
const LONG_TEXT = 16 << 10;

/** What happens in an account, as server-sent events. */
@Controller('v1/stream')
export class StreamController {
  constructor(
    private readonly activity: ActivityLog,
    private readonly reader: ActivityReader,
  ) {}

  @Get()
  async open(
    @CurrentUser() user: Principal,
    @Req() request: Request,
    @Res() response: Response,
  ): Promise<void> {
    readQuery({}, request);
    const after = request.get('Last-Event-ID');
    const isRead = request.method === 'GET';
    const end = endOf(response);
    const listener = isRead ? await this.activity.listen(user.userId, after, end) : undefined;
    // Otherwise it would wait for a client that has left to read.
    end.throwIfAborted();
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      // For nginx, which would otherwise collect the events.
      'X-Accel-Buffering': 'no',
    });
    if (!listener) {
      response.end();
      return;
    }
    const client = new Client(request, response, end);
    // Even if nothing happens, revoked credentials end the stream.
    const checks = setInterval(() => {
      void client.isWelcome().then((isWelcome) => {
        if (!isWelcome) listener.close();
      });
    }, CHECK_MS);
    try {
      await client.write(`retry: ${RECONNECT_MS}\n${eventText('open', '{}', listener.start)}`);
      for (let entries = await listener.next(); entries; entries = await listener.next()) {
        const changes = await this.changesOf(entries, user, request);
        // Only now, because the changes may have waited for their turn.
        if (!(await client.isWelcome())) break;
        // A comment, if nothing happened, shows that the connection works.
        if (entries.length === 0) await client.write(':\n\n');
        for (const [index, { cursor }] of entries.entries()) {
          await client.write(textOfEntry(cursor, changes[index]!, user, request));
        }
      }
      response.end();
    } catch (error) {
      // The client resumes where it was. Not only the answer, which may be queued behind another.
      request.socket.destroy();
      if (!end.aborted) throw error;
    } finally {
      clearInterval(checks);
      listener.close();
    }
  }

  private async changesOf(
    entries: readonly Entry[],
    { userId }: Principal,
    request: Request,
  ): Promise<ShownChange[][]> {
    if (entries.length === 0) return [];
    const read = () => this.reader.read(userId, entries);
    return readFairly(request, read);
  }
}

/** The client that has opened a stream. */
class Client {
  constructor(
    private readonly request: Request,
    private readonly response: Response,
    private readonly end: AbortSignal,
  ) {}

  /** Whether the credentials are still valid. */
  async isWelcome(): Promise<boolean> {
    try {
      return (await this.request.isStillLoggedIn?.()) === true;
    } catch (error) {
      // While the database is away, the credentials are neither confirmed nor refused.
      return error instanceof UnavailableError;
    }
  }

  /** Resolves when there is room for more. @throws if the client has left, or does not read */
  async write(text: string): Promise<void> {
    if (text === '') return;
    const hasRoom = this.response.write(text);
    // Other requests get their turn between long texts.
    if (text.length > LONG_TEXT) await setImmediate();
    if (hasRoom) return;
    const stalled = setTimeout(() => this.request.socket.destroy(), STALLED_MS);
    try {
      await once(this.response, 'drain', { signal: this.end });
    } finally {
      clearTimeout(stalled);
    }
  }
}

function textOfEntry(
  cursor: string,
  changes: readonly ShownChange[],
  viewer: Principal,
  request: Request,
): string {
  const href = hrefBuilder(request);
  return changes
    .map((change, at) => {
      // A client that resumes inside an entry gets all of it again.
      const id = at === changes.length - 1 ? cursor : undefined;
      return eventText(change.kind, textOf(change, viewer, href), id);
    })
    .join('');
}

function textOf(change: ShownChange, viewer: Principal, href: HrefBuilder): string {
  switch (change.kind) {
    case 'delivery':
      return DeliveryView.text(change.delivery, href);
    case 'attempt': {
      const { delivery, attempt } = change;
      const text = AttemptView.text(visibleAttempt(attempt, delivery, viewer), href);
      return `{"deliveryId":"${delivery.id}",${text.slice(1)}`;
    }
    case 'webhook':
      return WebhookView.text(change.webhook, href);
    case 'interrupted':
      return '{}';
  }
}

/** An event in the format of server-sent events (HTML, section 9.2). */
function eventText(name: string, data: string, id?: string): string {
  // A payload is shown as it was sent, perhaps with line breaks.
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${id === undefined ? '' : `id: ${id}\n`}event: ${name}\n${lines.join('')}\n`;
}
