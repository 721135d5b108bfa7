import { describeRoutes } from '#libs/http';
import { StreamController } from './stream.controller.js';

/** The stream's part of the API description. */
export const streamRoutes = describeRoutes(StreamController, {
  tag: 'Stream',
  about: 'What happens, as it happens.',
  operations: {
    open: {
      summary: 'Open a stream',
      about:
        "The account's activity as server-sent events, of which at most 5 streams may be open at once. " +
        'The first event is `open`; everything that happens later is sent: `delivery` (a Delivery, as it ' +
        'is now), `attempt` (an Attempt, and its `deliveryId`), `webhook` (a Webhook that was changed, or ' +
        'whose health has changed), and `interrupted` where events may be missing, so that the lists ' +
        'have to be read again. Many deliveries that change at once, as when their subscription is ' +
        'deleted, are not sent one by one. A client that reconnects within five minutes with the ' +
        '`Last-Event-ID` gets what it has missed. A comment shows at least every 15 seconds that the ' +
        'connection works; a client that does not read is disconnected.',
      answer: { mediaTypes: ['text/event-stream'] },
    },
  },
});
