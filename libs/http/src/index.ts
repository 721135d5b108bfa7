export { Login, OPEN_TO, type OpenTo, Public, RefusesWith } from './access.js';
export {
  type AbsenceCheck,
  entityTag,
  IfAbsent,
  IfMatch,
  type VersionCheck,
} from './entity-tag.js';
export {
  Check,
  Field,
  ID_RULE,
  INTEGER_TOO,
  ID_SCHEMA,
  Is,
  IsChoice,
  IsFlag,
  IsHttpUrl,
  IsId,
  IsLabel,
  IsString,
  IsTime,
  IsUrl,
} from './field.js';
export { isSameOrigin, mayBeCsrf } from './csrf.js';
export { HealthModule } from './health.module.js';
export { healthRoutes } from './health.openapi.js';
export { baseUrlOf, Href, type HrefBuilder, hrefBuilder } from './href.js';
export { createHttpApplication } from './http-application.js';
export { HttpModule } from './http.module.js';
export { Idempotent, type Once } from './idempotent.js';
export { InFlight, readInTurn } from './in-flight.js';
export { JsonBody, LoginBody, RawJsonBody, validDto } from './json-body.js';
export { answerJson, answerList, answerPieces, arrayPieces, withMember } from './list-answer.js';
export {
  AddressSchema,
  DeletedSchema,
  describeError,
  describeRoutes,
  FaultSchema,
  NEWEST_PAGE,
  type NotificationDescription,
  openApiDocument,
  OPTIONAL_PAGE,
  type Parameters,
  schema,
  TIMES,
} from './openapi/index.js';
export { fault, inside, isObject, listOf, oneOf, type Part, wholeNumber } from './part.js';
export {
  among,
  filtersOf,
  type FilterRule,
  parseTime,
  QueryReader,
  textsOf,
  TIME_RULE,
  timesOf,
} from './query.js';
export { type JsonText, MAX_DEPTH } from './read-body.js';
export {
  CONNECTION_BYTES,
  MAX_BYTES as MAX_STRANGER_BYTES,
  MAX_BYTES_OF_ADDRESS as MAX_STRANGER_BYTES_OF_ADDRESS,
  noteStranger,
  REQUEST_BYTES,
  vouchFor,
} from './strangers.js';
export { pathOf } from './request.js';
export { endOf } from './request-end.js';
export { isStrict, unknownMembers } from './strict-handling.js';
export { startServer } from './start-server.js';
export { refuseMethod, UnknownRouteModule } from './unknown-route.module.js';
export { computed, viewOf } from './view.js';
