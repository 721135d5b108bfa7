import { schema } from '#libs/http';
import type { AuditRecord } from '../domain/audit-log.js';

/** What {@link showAuditRecord} shows. */
export const AuditRecordSchema = schema.named(
  'AuditEntry',
  schema.object(
    {
      id: schema.uuid('Its id.'),
      createdAt: schema.time('When it was done.'),
      accountId: schema.integer('Whose resource it is, unless it belongs to no account.', 83346),
      userId: schema.integer(
        'The user who did it; absent where `actor` is `cli`, `system` or `platform`.',
        83346,
      ),
      actor: schema.text(
        'The name of that user; without a `userId` it is `cli`, the command line, `system`, the ' +
          'service itself, or `platform`, an operator of it, who is named to the platform alone.',
        'partner.one',
      ),
      address: schema.text(
        'From where; that of another user is shown to the platform.',
        '192.0.2.7',
      ),
      requestId: schema.text(
        'The `X-Request-Id` of the request.',
        'f0b1c7de-6a0e-4c07-9d3f-2f7f5a2b9c11',
      ),
      action: schema.text('The kind of the resource, and what was done to it.', 'webhook.update'),
      resource: schema.text('The kind of the resource.', 'webhook'),
      resourceId: schema.text('Its id.', '4711'),
      fields: {
        ...schema.arrayOf({ type: 'string', examples: ['targetUrl'] }),
        description: 'The names of the fields that changed, of an update.',
        examples: [['targetUrl', 'enabled']],
      },
    },
    { optional: ['accountId', 'userId', 'address', 'requestId', 'fields'] },
  ),
);

/** An entry of the audit as it is shown. */
export function showAuditRecord(record: AuditRecord): object {
  const { accountId, userId, fields } = record;
  return {
    id: record.id,
    createdAt: record.createdAt,
    accountId: accountId === undefined ? undefined : Number(accountId),
    userId: userId === undefined ? undefined : Number(userId),
    actor: record.actor,
    address: record.address,
    requestId: record.requestId,
    action: record.action,
    resource: record.resource,
    resourceId: record.resourceId,
    fields: fields.length > 0 ? fields : undefined,
  };
}
