import { Injectable } from '@nestjs/common';
import { type Sealed, SecretBox, UnreadableSecretError } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import { isMaskedTargetUrl } from '../domain/target-url.js';
import type { RetiredSecret } from '../domain/webhook.js';
import { type SecretField, WebhookSecrets } from '../domain/webhook-secrets.js';

/** How many subscriptions are locked at once, for some milliseconds. */
const BATCH = 100;

/** What came of it. */
export interface Reencrypted {
  /** In how many subscriptions, deleted ones included, something was encrypted anew. */
  changed: number;
  /** By subscription, why something cannot be read; that is as it was. */
  unreadable: Map<string, string>;
}

/** What is secret of a subscription, as it is stored. */
interface SecretsRow {
  id: string;
  account_id: string;
  target_url: string;
  userinfo: Sealed | null;
  headers: Record<string, Sealed> | null;
  secret: Sealed;
  retired_secrets: RetiredSecret[];
}

/**
 * Those that may hold something that is not sealed with the present key, or user information that
 * is not sealed at all. $1 the id after which they come, $2 what the present key's seals begin with
 */
const DUE = `
SELECT id, account_id, target_url, userinfo, headers, secret, retired_secrets FROM webhooks
WHERE id > $1 AND (
  NOT starts_with(secret, $2) OR NOT starts_with(userinfo, $2)
  OR EXISTS (SELECT FROM json_each_text(headers) WHERE NOT starts_with(value, $2))
  OR EXISTS (
    SELECT FROM jsonb_array_elements(retired_secrets) r WHERE NOT starts_with(r ->> 'secret', $2)
  )
  OR target_url LIKE '%@%' AND (userinfo IS NULL OR target_url NOT LIKE '%://***@%')
)
ORDER BY id LIMIT ${BATCH} FOR NO KEY UPDATE`;

/** $1…$6 arrays: the columns. It is the same target, and nothing that a client sees has changed. */
const WRITE = `
UPDATE webhooks w
SET target_url = n.target_url, userinfo = n.userinfo, headers = n.headers::json,
  secret = n.secret, retired_secrets = n.retired_secrets::jsonb
FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[])
  AS n(id, target_url, userinfo, headers, secret, retired_secrets)
WHERE w.id = n.id`;

/** Brings the secrets of all subscriptions to the present key. */
@Injectable()
export class SecretsReencryption {
  constructor(
    private readonly box: SecretBox,
    private readonly secrets: WebhookSecrets,
    private readonly transactions: TypeOrmTransactions,
  ) {}

  /** The id of the key that it is done with; undefined where there is none, and nothing to do. */
  get keyId(): string | undefined {
    return this.box.keyId;
  }

  /** Goes through all of them while everything runs. What is done already is passed over. */
  async run(): Promise<Reencrypted> {
    const result: Reencrypted = { changed: 0, unreadable: new Map() };
    for (let last: string | undefined = '0'; last !== undefined;) {
      const batch = await this.renewBatch(last);
      result.changed += batch.changed;
      for (const [id, reason] of batch.unreadable) result.unreadable.set(id, reason);
      last = batch.last;
    }
    return result;
  }

  private renewBatch(after: string): Promise<Reencrypted & { last: string | undefined }> {
    return this.transactions.run(async () => {
      const { manager } = this.transactions;
      const rows: SecretsRow[] = await manager.query(DUE, [after, this.box.prefix]);
      const unreadable = new Map<string, string>();
      const changed = rows.flatMap((row) => {
        const renewed = this.renewed(row, (reason) => unreadable.set(row.id, reason));
        return JSON.stringify(renewed) === JSON.stringify(row) ? [] : [renewed];
      });
      if (changed.length > 0) {
        await manager.query(WRITE, [
          changed.map((row) => row.id),
          changed.map((row) => row.target_url),
          changed.map((row) => row.userinfo),
          changed.map(({ headers }) => headers && JSON.stringify(headers)),
          changed.map((row) => row.secret),
          changed.map((row) => JSON.stringify(row.retired_secrets)),
        ]);
      }
      return { changed: changed.length, unreadable, last: rows.at(-1)?.id };
    });
  }

  private renewed(row: SecretsRow, onUnreadable: (reason: string) => void): SecretsRow {
    const { account_id: accountId, target_url: targetUrl, userinfo, headers, secret } = row;
    const renew = (field: SecretField, sealed: Sealed): Sealed => {
      if (sealed.startsWith(this.box.prefix)) return sealed;
      try {
        return this.secrets.seal(accountId, field, this.secrets.open(accountId, field, sealed));
      } catch (error) {
        if (!(error instanceof UnreadableSecretError)) throw error;
        onUnreadable(error.reason);
        return sealed;
      }
    };
    const target = isMaskedTargetUrl(targetUrl)
      ? { targetUrl, userinfo: userinfo && renew('userinfo', userinfo) }
      : this.secrets.sealTarget(accountId, targetUrl);
    const values = Object.entries(headers ?? {}).map(([name, value]) => [
      name,
      renew('header', value),
    ]);
    return {
      ...row,
      target_url: target.targetUrl,
      userinfo: target.userinfo,
      headers: headers && (Object.fromEntries(values) as Record<string, Sealed>),
      secret: renew('secret', secret),
      retired_secrets: row.retired_secrets.map((retired) => ({
        ...retired,
        secret: renew('secret', retired.secret),
      })),
    };
  }
}
