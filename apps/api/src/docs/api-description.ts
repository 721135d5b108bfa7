import { applicationsRoutes } from '#libs/applications/http';
import { healthRoutes, openApiDocument } from '#libs/http';
import { identityRoutes } from '#libs/identity/http';
import { type Config, VERSION } from '#libs/runtime';
import { notifications, webhooksRoutes } from '#libs/webhooks/http';
import { docsRoutes } from './docs.controller.js';

const ABOUT = `Applications, webhook subscriptions and event notifications of a communications
platform.

- Paths work with and without a trailing slash, and are case-sensitive. HEAD works wherever GET
  does. Everything under \`/v1/\` needs HTTP Basic.
- Bodies are JSON objects in UTF-8 with \`Content-Type: application/json\`, and may be sent with
  gzip. Unknown and read-only members are ignored, so a resource can be sent back whole. On POST,
  \`null\` means "not given". On PUT, omitted members keep their values.
- Ids are strings of digits, or UUIDs. In answers, the clients of the first version of this API
  expect the id of a user (\`id\` of a user, \`userId\` of an application, \`accountId\` of a subscription
  and of an event) as an integer, so it is one there, and a string everywhere else. Bodies accept
  both forms of any numeric id.
- Times are RFC 3339; answers use UTC with milliseconds.
- A request may have an \`X-Request-Id\` of 1 to 128 letters, digits and \`._:@/+=-\`, which the answer
  and our log then have, too.
- Answers omit fields that are not set; they are never \`null\`. Clients must tolerate new fields.
- A POST that creates an application, a subscription, a replay, a recovery, a test or a delivery, or sends one, can be
  repeated safely if it has an \`Idempotency-Key\`; an event can, if it has an \`id\`. All other
  requests ignore that header: each repeat creates another credential or another secret.
- A request with a repeated query parameter, or with an invalid time, number, boolean or \`scope\`,
  is refused. Unknown parameters are ignored, and a filter with a value that nothing has, such as
  \`state=failed\`, finds nothing.
- With \`Prefer: handling=strict\` (RFC 7240), a request is refused if its body has an unknown or
  read-only member, or if the query of a list has an unknown parameter, a \`state\`, \`event\`,
  \`resource\` or \`status\` that does not exist, or a malformed id. The answer then has
  \`Preference-Applied: handling=strict\`.`;

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
