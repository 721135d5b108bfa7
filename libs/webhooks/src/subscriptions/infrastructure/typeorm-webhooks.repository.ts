import { Injectable } from '@nestjs/common';
import { type EntityManager, type FindOptionsWhere, IsNull, MoreThan, Raw } from 'typeorm';
import type { Page, Sealed } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import { ALL_RESOURCES } from '../domain/event-kinds.js';
import { DELETED } from '../domain/subscription-life.js';
import {
  type NewWebhook,
  type SealedKey,
  Webhook,
  type WebhookRevision,
} from '../domain/webhook.js';
import {
  type WebhookFilter,
  type WebhookKey,
  type WebhookLevel,
  WebhooksRepository,
} from '../domain/webhooks.repository.js';
import { REVISED, typeOrmValues } from './webhook-values.js';

/** Each is a signature more in the header of every notification. */
const MAX_RETIRED_SECRETS = 10;

/** Subscriptions in PostgreSQL. */
@Injectable()
export class TypeOrmWebhooksRepository extends WebhooksRepository {
  constructor(private readonly transactions: TypeOrmTransactions) {
    super();
  }

  async find(key: WebhookKey, { hold } = { hold: false }): Promise<Webhook | undefined> {
    const { id, accountId, applicationId } = key;
    const found = await this.transactions.use((manager) =>
      manager.findOne(Webhook, {
        where: {
          id,
          accountId,
          deletedAt: IsNull(),
          ...(applicationId !== undefined && { applicationId }),
        },
        ...(hold && { lock: { mode: 'for_no_key_update' as const } }),
      }),
    );
    return found ?? undefined;
  }

  list(filter: WebhookFilter, { after, limit }: Page): Promise<Webhook[]> {
    const where = {
      ...conditionsOf(filter),
      ...(after !== undefined && { id: MoreThan(after) }),
    };
    return this.transactions.use((manager) =>
      manager.find(Webhook, { where, order: { id: 'ASC' }, take: limit }),
    );
  }

  async count({ accountId, applicationId }: WebhookLevel): Promise<number> {
    const scope = applicationId === undefined ? 'account' : { applicationId };
    return this.transactions.use(async (manager) => {
      if (scope === 'account') await holdAccount(manager, accountId);
      return manager.countBy(Webhook, conditionsOf({ accountId, scope }));
    });
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
    { overlapHours, except }: { overlapHours: number; except: readonly Sealed[] },
  ): Promise<void> {
    await this.transactions.use((manager) =>
      manager.query(REPLACE_KEY, [id, secret, publicKey, overlapHours, except]),
    );
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

/**
 * The present secret goes to the head of those that were retired before and still sign.
 * $1 id, $2 new secret, $3 its public key, $4 overlap in h, $5 secrets that sign no more
 */
const REPLACE_KEY = `
UPDATE webhooks SET secret = $2, public_key = $3, retired_secrets = coalesce((
  SELECT jsonb_agg(retired ORDER BY place)
  FROM jsonb_array_elements(
    jsonb_build_array(jsonb_build_object(
      'secret', secret, 'until', now() + make_interval(hours => $4)
    )) || retired_secrets
  ) WITH ORDINALITY AS r(retired, place)
  WHERE (retired ->> 'until')::timestamptz > now() AND place <= ${MAX_RETIRED_SECRETS}
    AND retired ->> 'secret' <> ALL ($5::text[])
), '[]')
WHERE id = $1`;

/** Whoever counts at account level waits here; foreign keys may go on referring to the row. */
async function holdAccount(manager: EntityManager, accountId: string): Promise<void> {
  await manager.query('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [accountId]);
}

function conditionsOf(filter: WebhookFilter): FindOptionsWhere<Webhook> {
  const { accountId, scope, event, resource, enabled } = filter;
  return {
    accountId,
    deletedAt: IsNull(),
    ...(scope === 'account' && { applicationId: IsNull() }),
    ...(typeof scope === 'object' && scope),
    ...(event !== undefined && { event }),
    ...(enabled !== undefined && { enabled }),
    ...(resource !== undefined && {
      resource: Raw((column) => `string_to_array(${column}, ',') && ARRAY[:...covering]`, {
        covering: [resource, ALL_RESOURCES],
      }),
    }),
  };
}
