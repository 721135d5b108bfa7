export {
  ALLOWED_TO,
  Login,
  NEEDS_SCOPE,
  OPEN_TO,
  type OpenTo,
  Public,
  RefusesWith,
} from './access.js';
export { Answer, answer, located, shown } from './answer.js';
export { isSameOrigin, mayBeCsrf } from './browsers.js';
export { type AbsenceCheck, IfAbsent, IfMatch, type VersionCheck } from './entity-tag.js';
export { HealthModule, healthRoutes } from './health.module.js';
export { createHttpApplication, HttpModule } from './http-application.js';
export { Idempotent, type Once } from './idempotent.js';
export { InFlight, FairReads, readFairly, type FairRead } from './in-flight.js';
export { JsonBody, LoginBody, validDto } from './json-body.js';
export { JsonPieces, type ReadBody } from './json-pieces.js';
export { NoRouteError, UnknownRouteModule } from './known-routes.js';
export { listAs } from './formatted-list.js';
export { followed, listed, listedOrExported, shownWithList } from './list-answer.js';
export { bodySchemaOf } from './openapi/body-schema.js';
export {
  describeRoutes,
  type NotificationDescription,
  type Parameters,
} from './openapi/describe.js';
export { openApiDocument } from './openapi/document.js';
export { describeError, FaultSchema } from './openapi/errors.js';
export { AddressSchema, DeletedSchema } from './openapi/schema.js';
/** The builders of schemas, as `schema.text(…)`. */
export * as schema from './openapi/schema.js';
export { given, type Query, QueryOf, readQuery } from './query.js';
/** The parameters of queries, as `parameter.text(…)`. */
export * as parameter from './query-parameters.js';
export {
  EXPORTABLE_PAGE,
  FEED_PAGE,
  NEWEST_PAGE,
  OPTIONAL_PAGE,
  PLUS_AT_START,
  TIMES,
} from './query-parameters.js';
export { MAX_DEPTH } from './read-body.js';
export {
  baseUrlOf,
  configOf,
  endOf,
  Href,
  type HrefBuilder,
  hrefBuilder,
  pathOf,
} from './request.js';
export { startServer } from './start-server.js';
export {
  CONNECTION_BYTES,
  MAX_BYTES as MAX_UNAUTHENTICATED_BYTES,
  MAX_BYTES_OF_ADDRESS as MAX_UNAUTHENTICATED_BYTES_OF_ADDRESS,
  markUnauthenticated,
  REQUEST_BYTES,
  markAuthenticated,
} from './unauthenticated-connections.js';
export { isStrict, unknownMembers } from './strict-handling.js';
export { computed, viewOf } from './view.js';
