export { OPEN_TO, type OpenTo, Public, PublicOutsideV1, RefusesWith } from './access.js';
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
  ID_SCHEMA,
  IsChoice,
  IsFlag,
  IsHttpUrl,
  IsId,
  IsLabel,
  IsObject,
  IsString,
  IsText,
  IsTime,
  IsUrl,
  type ReadObject,
} from './field.js';
export { HealthModule } from './health.module.js';
export { mayBeForged } from './forgery.js';
export { healthRoutes } from './health.openapi.js';
export { Href, hrefBuilder, type HrefBuilder } from './href.js';
export { createHttpApplication } from './http-application.js';
export { Idempotent, type Once } from './idempotent.js';
export { KernelHttpModule } from './kernel-http.module.js';
export { JsonBody, RawJsonBody } from './json-body.js';
export { InFlight } from './in-flight.js';
export { answerJson, answerList, answerPieces, arrayPieces, type Shown } from './list-answer.js';
export { ProblemFilter } from './problem.filter.js';
export * from './openapi/index.js';
export { parseTime, QueryReader, TIME_RULE, textsOf, timesOf } from './query.js';
export { type JsonText, MAX_DEPTH } from './read-body.js';
export { pathOf } from './request.js';
export { RequestLog } from './request-log.js';
export { refuseMethod, UnknownRouteModule } from './unknown-route.module.js';
