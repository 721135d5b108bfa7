import { once } from 'node:events';
import { Controller, Get, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { type HrefBuilder, hrefBuilder, QueryReader } from '#libs/http';
import { type Principal, UnauthorizedError } from '#libs/identity';
import { CurrentUser } from '#libs/identity/http';
import { AttemptView, DeliveryView, visibleAttempt } from '../../deliveries/http/delivery.view.js';
import { WebhookView } from '../../subscriptions/http/webhook.view.js';
import { ActivityLog, type Entry } from '../domain/activity-log.js';
import { ActivityReader, type Message } from '../domain/activity-reader.js';

/** A client that has read nothing for so long, with its buffers full, is disconnected. */
const STALLED_MS = 10_000;
/** How long credentials are taken to be valid still. */
const TRUSTED_MS = 1_000;
const RECONNECT_MS = 1_000;

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
    new QueryReader(request).done();
    const after = request.get('Last-Event-ID');
    const isRead = request.method === 'GET';
    const follower = isRead ? await this.activity.follow(user.userId, after) : undefined;
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      // For nginx, which would otherwise collect the events.
      'X-Accel-Buffering': 'no',
    });
    if (!follower) {
      response.end();
      return;
    }
    const left = new AbortController();
    response.once('close', () => {
      left.abort();
      follower.close();
    });
    if (response.destroyed) follower.close();
    const listener = new Listener(request, response, left.signal);
    try {
      await listener.write(`retry: ${RECONNECT_MS}\n${eventText('open', '{}', follower.start)}`);
      for (let entries = await follower.next(); entries; entries = await follower.next()) {
        if (!(await listener.isWelcome())) break;
        await listener.write(await this.textOf(entries, user, request));
      }
      response.end();
    } catch (error) {
      // The client resumes where it was.
      response.destroy();
      if (!left.signal.aborted && !isTimeout(error)) throw error;
    } finally {
      follower.close();
    }
  }

  /** A comment, if nothing happened, shows that the connection works. */
  private async textOf(
    entries: readonly Entry[],
    user: Principal,
    request: Request,
  ): Promise<string> {
    if (entries.length === 0) return ':\n\n';
    const read = () => this.reader.read(user.userId, entries);
    const messages = await (request.inFlight?.read(read) ?? read());
    const href = hrefBuilder(request);
    return entries
      .map(({ place }, index) => {
        const texts = messages[index]!.map((message) => [
          message.kind,
          textOf(message, user, href),
        ]);
        return texts.map(([kind = '', data = ''], at) =>
          // A client that resumes inside an entry gets all of it again.
          eventText(kind, data, at === texts.length - 1 ? place : undefined),
        );
      })
      .flat()
      .join('');
  }
}

/** Whoever has opened a stream. */
class Listener {
  private trustedUntil = performance.now() + TRUSTED_MS;

  constructor(
    private readonly request: Request,
    private readonly response: Response,
    private readonly left: AbortSignal,
  ) {}

  /** Whether the credentials are still valid. */
  async isWelcome(): Promise<boolean> {
    if (performance.now() < this.trustedUntil) return true;
    try {
      await this.request.reauthenticate?.();
      this.trustedUntil = performance.now() + TRUSTED_MS;
      return true;
    } catch (error) {
      // While the database is away, the credentials are neither confirmed nor refused.
      return !(error instanceof UnauthorizedError);
    }
  }

  /** Resolves when there is room for more. @throws if the client has left, or does not read */
  async write(text: string): Promise<void> {
    if (text === '' || this.response.write(text)) return;
    const signal = AbortSignal.any([this.left, AbortSignal.timeout(STALLED_MS)]);
    await once(this.response, 'drain', { signal });
  }
}

function textOf(message: Message, viewer: Principal, href: HrefBuilder): string {
  switch (message.kind) {
    case 'delivery':
      return DeliveryView.text(message.delivery, href);
    case 'attempt': {
      const { delivery, attempt } = message;
      const text = AttemptView.text(visibleAttempt(attempt, delivery, viewer), href);
      return `{"deliveryId":"${delivery.id}",${text.slice(1)}`;
    }
    case 'webhook':
      return WebhookView.text(message.webhook, href);
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

function isTimeout(error: unknown): boolean {
  return error instanceof Error && error.name === 'AbortError';
}
