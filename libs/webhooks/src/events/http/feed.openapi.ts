import { describeError, describeRoutes, schema } from '#libs/http';
import { CursorExpiredError } from '../domain/feed.js';
import { EventWithDataView } from './event.view.js';
import { FeedController } from './feed.controller.js';

const EXPIRED = describeError(
  new CursorExpiredError('019a0b1c-2d3c-7a10-9c77-04d6f1e2b388'),
  'Events after the cursor are no longer kept. `oldest` is the oldest cursor that works.',
);

/** The feed's part of the API description. */
export const feedRoutes = describeRoutes(FeedController, {
  tag: 'Events',
  about: 'Events that the platform reports, and their deliveries.',
  operations: {
    follow: {
      summary: 'Follow the feed of events',
      about:
        "Returns the caller's events with their data, oldest first, in an order that never changes; for operators, " +
        'those of all accounts. Go on with `Switchhook-Cursor` as `after`, or with the URL in `Link`, and ' +
        'you get every event exactly once: no event ever appears behind a cursor that was returned. Without `after` and `since`, it ' +
        'begins now. An event appears within a second of its acceptance. A page may be empty, and ends at about 1 MiB. An ' +
        'account can have at most 20 requests that `wait` at the same time.',
      answer: schema.arrayOf(EventWithDataView.schema),
      headers: ['Switchhook-Cursor'],
      errors: [EXPIRED],
    },
  },
});
