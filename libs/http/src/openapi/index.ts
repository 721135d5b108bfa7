export {
  describeRoutes,
  type NotificationDescription,
  type Operation,
  type Parameters,
  type RoutesDescription,
} from './describe.js';
export { type ApiInfo, openApiDocument } from './document.js';
export { describeError, FaultSchema } from './errors.js';
export { NEWEST_PAGE, OPTIONAL_PAGE, TIMES } from './parameters.js';
export { AddressSchema, DeletedSchema, type Schema } from './schema.js';
/** The builders of schemas, as `schema.text(…)`. */
export * as schema from './schema.js';
