export { deliveriesRoutes } from '../deliveries/http/deliveries.openapi.js';
export { notifications } from '../deliveries/http/notification.openapi.js';
export { replaysRoutes } from '../deliveries/http/replays.openapi.js';
export { EventsHttpModule } from '../events/http/events-http.module.js';
export { eventsRoutes } from '../events/http/events.openapi.js';
export { WebhooksHttpModule } from '../subscriptions/http/webhooks-http.module.js';
export { subscriptionRoutes } from '../subscriptions/http/webhooks.openapi.js';
