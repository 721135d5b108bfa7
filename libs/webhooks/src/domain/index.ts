export {
  EVENT_KINDS,
  type EventKind,
  type EventResource,
  REPORTED_KINDS,
  type ReportedKind,
  type Resource,
  RESOURCES,
} from '../subscriptions/domain/event-kinds.js';
export { ATTEMPT_ERRORS, DELIVERY_STATES } from '../deliveries/domain/delivery.js';
export {
  sampleCall,
  type SampleData,
  sampleData,
  usualResource,
} from '../deliveries/domain/event-samples.js';
export { newSigningKey } from '../subscriptions/domain/signing-key.js';
export { notificationBody, signatureHeaders } from '../deliveries/domain/notification.js';
