import type { Config } from '#libs/runtime';
import { bytesOf, MAX_DEPTH, maxValues } from '../read-body.js';
import { bodySchemaOf } from './body-schema.js';
import { Components, type Json, RATE_LIMIT_HEADERS } from './components.js';
import type { NotificationDescription, Parameters, RoutesDescription } from './describe.js';
import { DescribedErrors } from './errors.js';
import { codesOf, isDescribed } from './route-errors.js';
import { pathNames, type Route, routesOf } from './routes.js';
import { CSV_CHANGES } from '../export-formats.js';
import { isExportable, listContent } from './list-content.js';
import { AddressSchema, exampleOf, type Schema } from './schema.js';

const JSON_TYPE = 'application/json';
/** The extension with the answers that belong to no operation. */
const ELSEWHERE = 'x-answers-elsewhere';
/** The extension of an operation with the roles that it is for. */
const ROLES = 'x-roles';

/** The first page of a document. */
export interface ApiInfo {
  title: string;
  version: string;
  /** Markdown; the table of errors is appended. */
  about: string;
}

/** The settings that the description mentions. */
export type DescribedConfig = Pick<Config, 'MAX_BODY_BYTES' | 'MAX_BATCH_BYTES'>;

/** The parts of a document. */
export interface ApiParts {
  info: ApiInfo;
  routes: readonly RoutesDescription[];
  /** The requests that we send. */
  notifications: readonly NotificationDescription[];
}

/** The OpenAPI 3.1 document of an API, generated from its controllers and their descriptions; without servers. */
export function openApiDocument(
  { info: { title, version, about }, routes, notifications }: ApiParts,
  config: DescribedConfig,
): Json {
  const all = routes.flatMap(routesOf);
  const described = all.flatMap(({ errors }) => errors.filter(isDescribed));
  const errors = new DescribedErrors(described);
  const components = new Components(errors);
  const paths: Record<string, Json> = {};
  for (const route of all) {
    const path = (paths[route.path] ??= {});
    const sent = notifications.filter(({ operations }) => operations.includes(route.id));
    path[route.method] = operationOf(route, sent, { components, errors, config });
  }
  return {
    openapi: '3.1.0',
    info: {
      title,
      version,
      description: `${about}\n\n## Errors\n\n${errors.table()}`,
      contact: { name: 'The operator of this service' },
    },
    security: [{ basic: [] }],
    tags: tagsOf([...routes, ...notifications]),
    paths,
    [ELSEWHERE]: {
      401: components.problem(['unauthorized']),
      404: components.problem(['not_found']),
      405: components.problem(['method_not_allowed']),
      408: components.problem(['request_timeout']),
      429: components.problem(['rate_limited']),
    },
    components: components.toJSON(),
  };
}

function tagsOf(described: readonly { tag: string; about?: string }[]): Json[] {
  const tags = new Map<string, string[]>();
  for (const { tag, about } of described) {
    tags.set(tag, [...(tags.get(tag) ?? []), ...(about === undefined ? [] : [about])]);
  }
  return [...tags].map(([name, about]) => ({ name, description: about.join('\n\n') }));
}

/** Shared by the parts of one document. */
interface Shared {
  components: Components;
  errors: DescribedErrors;
  config: DescribedConfig;
}

function operationOf(
  route: Route,
  sent: readonly NotificationDescription[],
  { components, errors, config }: Shared,
): Json {
  const { operation, of } = route;
  const parameters = [
    ...pathParameters(route, components),
    ...parametersOf('query', route.query, components),
    ...parametersOf('header', operation.requestHeaders ?? {}, components),
    ...(route.checksVersion ? [components.parameter('IfMatch')] : []),
    ...(route.takesKey ? [components.parameter('IdempotencyKey')] : []),
  ];
  return {
    operationId: route.id,
    tags: [of.tag],
    summary: operation.summary,
    description: aboutOf(route),
    ...(route.isOpen && { security: [] }),
    ...(route.roles && { [ROLES]: route.roles }),
    ...(parameters.length > 0 && { parameters }),
    ...bodyOf(route, components, config),
    ...(sent.length > 0 && { callbacks: callbacksOf(route, sent, components) }),
    responses: {
      [route.status]: successOf(route, components),
      ...othersOf(route, components),
      ...problemsOf(route, components, errors),
    },
  };
}

function aboutOf({ operation: { about }, roles, scope }: Route): string {
  const required = [
    ...(roles ? [`the role ${roles.map((role) => `\`${role}\``).join(' or ')}`] : []),
    ...(scope === 'manage' ? ['a credential with the scope `manage`'] : []),
  ];
  return required.length > 0 ? `${about} Requires ${required.join(' and ')}.` : about;
}

/**
 * Not in the document's `webhooks`, of which some client generators make code that does not compile, and not as
 * components, references to which others refuse.
 */
function callbacksOf(
  { id }: Route,
  sent: readonly NotificationDescription[],
  components: Components,
): Json {
  return Object.fromEntries(
    sent.map((one) => [one.name, { [one.to]: { post: notificationOf(id, one, components) } }]),
  );
}

/** @param caller the id of the operation whose callers get it */
function notificationOf(
  caller: string,
  notification: NotificationDescription,
  components: Components,
): Json {
  const { name, tag, summary, about, headers, body, answers } = notification;
  return {
    // Generators name types after it, so the same notification has another one for each operation.
    operationId: `${caller}${name.charAt(0).toUpperCase()}${name.slice(1)}`,
    tags: [tag],
    summary,
    description: about,
    security: [],
    parameters: parametersOf('header', headers, components),
    requestBody: { required: true, content: jsonContent(body, components) },
    responses: Object.fromEntries(
      Object.entries(answers).map(([status, description]) => [status, { description }]),
    ),
  };
}

function pathParameters({ path, operation, of, id }: Route, components: Components): Json[] {
  const known = { ...of.path, ...operation.path };
  const wanted = pathNames(path).map((name) => {
    const parameter = known[name];
    if (!parameter) throw new Error(`${id}: the path parameter ${name} is not described`);
    return [name, parameter] as const;
  });
  return parametersOf('path', Object.fromEntries(wanted), components);
}

function parametersOf(
  place: 'path' | 'query' | 'header',
  all: Parameters,
  components: Components,
): Json[] {
  return Object.entries(all).map(([name, { about, schema, optional = place === 'query' }]) => ({
    name,
    in: place,
    description: about,
    ...(!optional && { required: true }),
    schema: components.schema(schema),
  }));
}

function bodyOf(route: Route, components: Components, config: DescribedConfig): Json {
  const { dto, bodyLimit, isBodyOptional, operation, id } = route;
  if (bodyLimit === undefined) return {};
  const schema = dto ? bodySchemaOf(dto, route.method === 'post') : operation.body;
  if (!schema) throw new Error(`${id}: the body is not described`);
  const examples = operation.examples ?? { everything: exampleOf(schema) };
  return {
    requestBody: {
      required: !isBodyOptional,
      description: sizesOf(bytesOf(bodyLimit, config)),
      content: {
        [JSON_TYPE]: {
          schema: components.schema(schema),
          examples: Object.fromEntries(
            Object.entries(examples).map(([name, value]) => [name, { value }]),
          ),
        },
      },
    },
  };
}

function sizesOf(bytes: number): string {
  const values = `${String(maxValues(bytes))} values and ${String(MAX_DEPTH)} levels of nesting`;
  return `At most ${String(bytes)} bytes, ${values}.`;
}

function successOf(route: Route, components: Components): Json {
  const { operation, method, query, status, isOpen, takesKey, checksVersion } = route;
  const { answer, headers = [] } = operation;
  const isExported = isExportable(query);
  return {
    description:
      (status === 202 ? 'Accepted for later processing.' : 'Success.') +
      (isExported ? ` ${CSV_CHANGES}` : ''),
    headers: {
      ...components.headersOf([
        ...(query['after'] ? (['Link'] as const) : []),
        ...(isExported ? (['Switchhook-Searched-To'] as const) : []),
        ...(checksVersion && method !== 'delete' ? (['ETag'] as const) : []),
        ...headers,
        ...(answer === AddressSchema && method === 'post' ? (['Location'] as const) : []),
        ...(takesKey ? (['Idempotency-Replayed'] as const) : []),
        ...(isOpen ? [] : RATE_LIMIT_HEADERS),
      ]),
      // A repeat with the same key does not know the version by then.
      ...(takesKey && headers.includes('ETag') && components.optionalHeaders(['ETag'])),
    },
    content:
      'mediaTypes' in answer
        ? Object.fromEntries(answer.mediaTypes.map((type) => [type, {}]))
        : { ...jsonContent(answer, components), ...listContent(query, answer) },
  };
}

function othersOf({ operation, isOpen }: Route, components: Components): Json {
  return Object.fromEntries(
    Object.entries(operation.others ?? {}).map(([status, { about, schema }]) => [
      status,
      {
        description: about,
        headers: components.headersOf(isOpen ? [] : RATE_LIMIT_HEADERS),
        content: jsonContent(schema, components),
      },
    ]),
  );
}

function jsonContent(schema: Schema, components: Components): Json {
  return { [JSON_TYPE]: { schema: components.schema(schema), example: exampleOf(schema) } };
}

/** The errors of a route: the ones that follow from its code, and the ones in its description. */
function problemsOf(route: Route, components: Components, errors: DescribedErrors): Json {
  const codes = codesOf(route);
  const statuses = new Set([...codes].map((code) => errors.statusOf(code)));
  return Object.fromEntries(
    [...statuses].map((status) => [
      status,
      components.problem([...codes].filter((code) => errors.statusOf(code) === status).sort()),
    ]),
  );
}
