export {
  EVENT_KINDS,
  type EventKind,
  type EventResource,
  REPORTED_KINDS,
  type ReportedKind,
  type Resource,
  RESOURCES,
} from '../event-kinds/domain/event-kinds.js';
export { DELIVERY_STATES } from '../deliveries/domain/delivery.js';
export {
  sampleCall,
  type SampleData,
  sampleData,
  usualResource,
} from '../event-kinds/domain/event-samples.js';
export { newSigningKey, signatureHeaders } from '../subscriptions/domain/signing-key.js';
export { notificationBody } from '../deliveries/domain/notification-body.js';
