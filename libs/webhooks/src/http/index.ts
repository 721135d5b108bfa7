export { WebhooksHttpModule } from './webhooks-http.module.js';
export { EventsHttpModule } from './events-http.module.js';
export { eventRoutes } from './events.openapi.js';
export { subscriptionRoutes } from './webhooks.openapi.js';
export { notifications } from './notification.openapi.js';
