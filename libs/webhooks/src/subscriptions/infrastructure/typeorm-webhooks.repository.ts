import { Injectable } from '@nestjs/common';
import { type FindOptionsWhere, IsNull, Raw } from 'typeorm';
import { EVERY_ACCOUNT, type Page, type Scope, type Sealed } from '#libs/kernel';
import { statement, TypeOrmTransactions } from '#libs/runtime';
import { LOCK_USER } from '#libs/identity';
import {
  type NewWebhook,
  type SealedKey,
  Webhook,
  type WebhookRevision,
} from '../domain/webhook.js';
import type { EventKind } from '../../event-kinds/domain/event-kinds.js';
import { coversSql } from '../../event-kinds/domain/matching.js';
import { DELETED } from '../domain/subscription-life.js';
import {
  type WebhookFilter,
  type WebhookKey,
  type WebhookLevel,
  WebhooksRepository,
} from '../domain/webhooks.repository.js';
import { REVISED, typeOrmValues } from '../webhook.schema.js';

/** Each adds a signature to a header of every notification. */
const MAX_RETIRED_SECRETS = 10;

interface NewKey extends SealedKey {
  id: string;
  overlapHours: number;
  /** Secrets that stop signing at once. */
  except: readonly Sealed[];
}

/** Puts the present secret in front of the retired ones that still sign. */
export const REPLACE_KEY = statement<NewKey>(`
UPDATE webhooks SET secret = @secret, public_key = @publicKey, retired_secrets = coalesce((
  SELECT jsonb_agg(retired ORDER BY place)
  FROM jsonb_array_elements(
    jsonb_build_array(jsonb_build_object(
      'secret', secret, 'until', now() + make_interval(hours => @overlapHours)
    )) || retired_secrets
  ) WITH ORDINALITY AS r(retired, place)
  WHERE (retired ->> 'until')::timestamptz > now() AND place <= ${MAX_RETIRED_SECRETS}
    AND retired ->> 'secret' <> ALL (@except::text[])
), '[]')
WHERE id = @id`);

/** Subscriptions in PostgreSQL. */
@Injectable()
export class TypeOrmWebhooksRepository extends WebhooksRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async find(
    key: Omit<WebhookKey, 'accountId'> & { accountId: Scope },
    { lock } = { lock: false },
  ): Promise<Webhook | undefined> {
    const { id, accountId, applicationId } = key;
    const found = await this.transactions.use((manager) =>
      manager.findOne(Webhook, {
        where: {
          id,
          deletedAt: IsNull(),
          ...(accountId !== EVERY_ACCOUNT && { accountId }),
          ...(applicationId !== undefined && { applicationId }),
        },
        ...(lock && { lock: { mode: 'for_no_key_update' as const } }),
      }),
    );
    return found ?? undefined;
  }

  list(filter: WebhookFilter, page: Page): Promise<Webhook[]> {
    return this.transactions.page(Webhook, page, conditionsOf(filter));
  }

  async count({ accountId, applicationId }: WebhookLevel): Promise<number> {
    const scope = applicationId === undefined ? 'account' : { applicationId };
    if (scope === 'account') await this.transactions.query(LOCK_USER, { id: accountId });
    return this.transactions.use((manager) =>
      manager.countBy(Webhook, conditionsOf({ accountId, scope })),
    );
  }

  async add(
    { accountId, applicationId }: WebhookLevel,
    webhook: NewWebhook & SealedKey,
  ): Promise<string> {
    const row = { ...webhook, accountId, applicationId: applicationId ?? null };
    const { identifiers } = await this.transactions.use((manager) => manager.insert(Webhook, row));
    return (identifiers[0] as { id: string }).id;
  }

  async revise(id: string, revision: WebhookRevision): Promise<void> {
    await this.transactions.use((manager) =>
      manager.update(Webhook, id, typeOrmValues({ ...revision, ...REVISED })),
    );
  }

  async replaceKey(
    id: string,
    { secret, publicKey }: SealedKey,
    overlap: { overlapHours: number; except: readonly Sealed[] },
  ): Promise<void> {
    await this.transactions.query(REPLACE_KEY, { id, secret, publicKey, ...overlap });
  }

  async remove(
    which: { id: string } | { applicationId: string },
  ): Promise<Pick<Webhook, 'id' | 'accountId'>[]> {
    const removed = await this.transactions.use((manager) =>
      manager
        .createQueryBuilder()
        .update(Webhook)
        .set(typeOrmValues(DELETED))
        .where({ ...which, deletedAt: IsNull() })
        .returning(['id', 'accountId'])
        .execute(),
    );
    const rows = removed.raw as { id: string; account_id: string }[];
    return rows.map((row) => ({ id: row.id, accountId: row.account_id }));
  }
}

function conditionsOf(filter: WebhookFilter): FindOptionsWhere<Webhook> {
  const { accountId, scope, event, resource, enabled } = filter;
  return {
    accountId,
    deletedAt: IsNull(),
    ...(scope === 'account' && { applicationId: IsNull() }),
    ...(typeof scope === 'object' && scope),
    ...(event !== undefined && { event: event as EventKind }),
    ...(enabled !== undefined && { enabled }),
    ...(resource !== undefined && {
      resource: Raw((column) => coversSql(column, ':resource'), { resource }),
    }),
  };
}
