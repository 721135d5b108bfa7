export {
  EVENT_KINDS,
  type EventKind,
  type Resource,
  RESOURCES,
} from '../subscriptions/domain/event-kinds.js';
export {
  sampleCall,
  type SampleData,
  sampleData,
  usualResource,
} from '../deliveries/domain/event-samples.js';
export { notificationBody, signatureHeaders } from '../deliveries/domain/notification.js';
