import { computed, schema, viewOf } from '#libs/http';
import type { AuditRecord } from '../domain/audit-log.js';

const { optional } = schema;
const numberOf = (id: string | undefined) => (id === undefined ? undefined : Number(id));

/** An audit entry in the form that answers contain. */
export const AuditRecordView = viewOf<AuditRecord>()('AuditEntry', {
  id: schema.uuid("The entry's id."),
  createdAt: schema.time('When the change was made.'),
  accountId: computed(
    optional(schema.integer('The account that owns the resource; absent if none does.', 83346)),
    ({ accountId }) => numberOf(accountId),
  ),
  userId: computed(
    optional(
      schema.integer(
        'The id of the user who made the change; absent if `actor` is `cli`, `system` or `platform`.',
        83346,
      ),
    ),
    ({ userId }) => numberOf(userId),
  ),
  actor: schema.text(
    'The username of that user. Without `userId`: `cli` (the command line), `system` (the service itself) or ' +
      '`platform` (an operator, whose name only operators see).',
    'partner.one',
  ),
  address: optional(
    schema.text(
      "The client's IP address. Only operators see the addresses of other users.",
      '192.0.2.7',
    ),
  ),
  requestId: optional(
    schema.text(
      'The `X-Request-Id` of the request that made the change.',
      'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11',
    ),
  ),
  action: schema.text('The kind of resource and what was done to it.', 'webhook.update'),
  resource: schema.text('The kind of resource.', 'webhook'),
  resourceId: schema.text(
    'The id of the resource; for a session, the id of its credential or link.',
    '4711',
  ),
  fields: computed(
    optional({
      ...schema.arrayOf({ type: 'string', examples: ['targetUrl'] }),
      description: 'For an update, the names of the changed fields.',
      examples: [['targetUrl', 'enabled']],
    }),
    ({ fields }) => (fields.length > 0 ? fields : undefined),
  ),
});
