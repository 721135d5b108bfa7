import { computed, schema, viewOf } from '#libs/http';
import type { AuditRecord } from '../domain/audit-log.js';

const { optional } = schema;
const numberOf = (id: string | undefined) => (id === undefined ? undefined : Number(id));

/** An audit entry in the form that answers contain. */
export const AuditRecordView = viewOf<AuditRecord>()('AuditEntry', {
  id: schema.uuid('The id of the entry.'),
  createdAt: schema.time('When the change was made.'),
  accountId: computed(
    optional(schema.integer('The owner of the resource, if it belongs to an account.', 83346)),
    ({ accountId }) => numberOf(accountId),
  ),
  userId: computed(
    optional(
      schema.integer(
        'The user who made the change; absent if `actor` is `cli`, `system` or `platform`.',
        83346,
      ),
    ),
    ({ userId }) => numberOf(userId),
  ),
  actor: schema.text(
    'The name of that user. Without a `userId`: `cli` (the command line), `system` (the service ' +
      'itself) or `platform` (an operator, whose name only the platform sees).',
    'partner.one',
  ),
  address: optional(
    schema.text(
      "The client's address. Only the platform sees the address of another user.",
      '192.0.2.7',
    ),
  ),
  requestId: optional(
    schema.text('The `X-Request-Id` of the request.', 'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11'),
  ),
  action: schema.text('The kind of the resource and what was done to it.', 'webhook.update'),
  resource: schema.text('The kind of the resource.', 'webhook'),
  resourceId: schema.text(
    'The id of the resource; of a session, the id of its credential.',
    '4711',
  ),
  fields: computed(
    optional({
      ...schema.arrayOf({ type: 'string', examples: ['targetUrl'] }),
      description: 'The names of the changed fields, for an update.',
      examples: [['targetUrl', 'enabled']],
    }),
    ({ fields }) => (fields.length > 0 ? fields : undefined),
  ),
});
