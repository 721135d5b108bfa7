import { describeRoutes } from '#libs/http';
import { StreamController } from './stream.controller.js';

/** The stream's part of the API description. */
export const streamRoutes = describeRoutes(StreamController, {
  tag: 'Stream',
  about: 'Activity in real time.',
  operations: {
    open: {
      summary: 'Open a stream',
      about:
        "The account's activity as server-sent events. An account may have at most 5 open streams. " +
        'The first event is `open`. Everything that happens after it is sent: `delivery` (the present ' +
        'Delivery), `attempt` (an Attempt with its `deliveryId`), `webhook` (a Webhook that was changed, or ' +
        'whose health has changed), and `interrupted` where events may be missing, so that you have to read the ' +
        'lists again. Many deliveries that change at once, for example when their subscription is ' +
        'deleted, are not sent one by one. A client that reconnects within five minutes with ' +
        '`Last-Event-ID` gets what it has missed. A comment at least every 15 seconds shows that the ' +
        'connection works. A client that does not read is disconnected.',
      answer: { mediaTypes: ['text/event-stream'] },
    },
  },
});
