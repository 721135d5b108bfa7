export {
  EVENT_KINDS,
  type EventKind,
  type Resource,
  RESOURCES,
} from '../subscriptions/domain/event-kinds.js';
export {
  SAMPLE_APPLICATION,
  type SampleData,
  sampleData,
  sampleId,
  usualResource,
} from '../deliveries/domain/event-samples.js';
