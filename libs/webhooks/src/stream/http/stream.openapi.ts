import { describeRoutes } from '#libs/http';
import { StreamController } from './stream.controller.js';

/** The stream's part of the API description. */
export const streamRoutes = describeRoutes(StreamController, {
  tag: 'Stream',
  about: "The account's activity in real time.",
  operations: {
    open: {
      summary: 'Open a stream',
      about:
        "Streams the account's activity as server-sent events. An account can have at most 5 open streams. The first event " +
        'is `open`. After it, the stream sends `delivery` (the current Delivery), `attempt` (an Attempt with its ' +
        '`deliveryId`), `webhook` (a Webhook that has changed, or whose health has), and `interrupted` where events may be ' +
        'missing, so that you have to read the lists again. Many deliveries that change at once, for example because their ' +
        'subscription is deleted, are not sent one by one. A client that reconnects with `Last-Event-ID` within five minutes ' +
        'gets the events that it missed. At least every 15 seconds, a comment shows that the connection works. A client that ' +
        'does not read is disconnected.',
      answer: { mediaTypes: ['text/event-stream'] },
    },
  },
});
