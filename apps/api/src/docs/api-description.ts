import { applicationsRoutes } from '#libs/applications/http';
import { healthRoutes, openApiDocument } from '#libs/http';
import { identityRoutes } from '#libs/identity/http';
import { type Config, VERSION } from '#libs/runtime';
import { notifications, webhooksRoutes } from '#libs/webhooks/http';
import { docsRoutes } from './docs.controller.js';

const ABOUT = `Applications, webhook subscriptions and event notifications of a communications
platform.

- Paths work with and without a trailing slash, and are case-sensitive. HEAD works wherever GET
  does. Everything under \`/v1/\` requires HTTP Basic authentication.
- Who may use a route depends on the role of the user and the scope of the credential; others get 403. A user with the
  role \`reporter\` only reports events. A credential with the scope \`read\` may only GET, and read no signing secret.
- Request bodies are JSON objects in UTF-8 with \`Content-Type: application/json\`, and may be
  compressed with gzip. Unknown and read-only fields are ignored, so you can send a resource back
  as you received it; only requests for erasures, recoveries and links refuse them. On POST, \`null\` counts as absent. On PUT, omitted fields keep their values.
- Ids are strings of digits, or UUIDs. For the clients of the first version of this API, responses
  have the id of a user as an integer in \`id\` of a user, \`userId\` of an application, and
  \`accountId\` of a subscription and of an event; elsewhere it is a string. Request bodies accept
  both forms of any numeric id.
- Times are RFC 3339; responses use UTC with milliseconds.
- A request may have an \`X-Request-Id\` of 1 to 128 letters, digits and \`._:@/+=-\`. The response
  and the service's log repeat it.
- Responses omit fields that are not set; they are never \`null\`. Clients must tolerate new fields.
- A POST that creates an application, a subscription, a replay, a recovery, an erasure, a test or a delivery, or sends one,
  can be repeated safely if it has an \`Idempotency-Key\`; an event can, if it has an \`id\`. All other
  requests ignore that header: each repeat creates another credential, link or secret.
- A repeated query parameter, or an invalid time, number, boolean or \`scope\`, is an error. Unknown
  parameters are ignored. A filter with a value that nothing has, such as \`state=failed\`, returns
  an empty list.
- With \`Prefer: handling=strict\` (RFC 7240), unknown and read-only fields in a body are errors. So
  are, in the query of a list, an unknown parameter, an unknown \`state\`, \`event\`, \`resource\` or
  \`status\`, and a malformed id. The response then has \`Preference-Applied: handling=strict\`.`;

/** The OpenAPI document of all controllers of this process, without servers. */
export function describeApi(
  config: Pick<Config, 'MAX_BODY_BYTES' | 'MAX_BATCH_BYTES'>,
): Record<string, unknown> {
  const info = { title: 'Switchhook', version: VERSION, about: ABOUT };
  const routes = [
    ...applicationsRoutes,
    ...webhooksRoutes,
    ...identityRoutes,
    ...healthRoutes,
    ...docsRoutes,
  ];
  return openApiDocument({ info, routes, notifications }, config);
}
