import { Injectable } from '@nestjs/common';
import { type Sealed, SecretBox, UnreadableSecretError } from '#libs/kernel';
import { statement, TypeOrmTransactions } from '#libs/runtime';
import type { Webhook } from '../domain/webhook.js';
import { type SecretField, WebhookSecrets } from '../domain/webhook-secrets.js';

/** How many subscriptions re-encryption locks at once, for a few milliseconds. */
const BATCH = 100;

/** The secrets of a subscription as they are stored. */
export type SecretsRow = Pick<
  Webhook,
  'id' | 'accountId' | 'userinfo' | 'headers' | 'secret' | 'retiredSecrets'
>;

/** Subscriptions with a secret that does not start with the present key's prefix. */
export const FIND_SECRETS = statement<{ after: string; prefix: string }, SecretsRow>(`
SELECT id, account_id AS "accountId", userinfo, headers, secret, retired_secrets AS "retiredSecrets"
FROM webhooks
WHERE id > @after AND (
  NOT starts_with(secret, @prefix) OR NOT starts_with(userinfo, @prefix)
  OR EXISTS (SELECT FROM json_each_text(headers) WHERE NOT starts_with(value, @prefix))
  OR EXISTS (
    SELECT FROM jsonb_array_elements(retired_secrets) r
    WHERE NOT starts_with(r ->> 'secret', @prefix)
  )
)
ORDER BY id LIMIT ${BATCH} FOR NO KEY UPDATE`);

/** The columns as arrays; `headers` and `retiredSecrets` in JSON. */
interface NewSecrets {
  ids: string[];
  userinfo: (Sealed | null)[];
  headers: (string | null)[];
  secrets: Sealed[];
  retiredSecrets: string[];
}

/** Does not raise `version` or `target_version`: nothing changes for clients. */
export const WRITE_SECRETS = statement<NewSecrets>(`
UPDATE webhooks w
SET userinfo = n.userinfo, headers = n.headers::json, secret = n.secret,
  retired_secrets = n.retired_secrets::jsonb
FROM unnest(@ids::bigint[], @userinfo::text[], @headers::text[], @secrets::text[], @retiredSecrets::text[])
  AS n(id, userinfo, headers, secret, retired_secrets)
WHERE w.id = n.id`);

/** The result of a re-encryption. */
export interface Reencrypted {
  /** Subscriptions, including deleted ones, with at least one re-encrypted secret. */
  changed: number;
  /** By subscription id, why a secret is unreadable. Unreadable secrets are left as they are. */
  unreadable: Map<string, string>;
}

/** Re-encrypts the secrets of all subscriptions with the present key. */
@Injectable()
export class SecretsReencryption {
  constructor(
    private readonly box: SecretBox,
    private readonly secrets: WebhookSecrets,
    private readonly transactions: TypeOrmTransactions,
  ) {}

  /** The id of the present key; undefined if there is none and so nothing to do. */
  get keyId(): string | undefined {
    return this.box.keyId;
  }

  /** Runs in batches while the service is in use. Skips secrets that already have the present key. */
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
      const { prefix } = this.box;
      const rows = await this.transactions.query(FIND_SECRETS, { after, prefix });
      const unreadable = new Map<string, string>();
      const changed = rows.flatMap((row) => {
        const renewed = this.renewed(row, (reason) => unreadable.set(row.id, reason));
        return JSON.stringify(renewed) === JSON.stringify(row) ? [] : [renewed];
      });
      if (changed.length > 0) {
        await this.transactions.query(WRITE_SECRETS, {
          ids: changed.map((row) => row.id),
          userinfo: changed.map((row) => row.userinfo),
          headers: changed.map(({ headers }) => headers && JSON.stringify(headers)),
          secrets: changed.map((row) => row.secret),
          retiredSecrets: changed.map((row) => JSON.stringify(row.retiredSecrets)),
        });
      }
      return { changed: changed.length, unreadable, last: rows.at(-1)?.id };
    });
  }

  private renewed(row: SecretsRow, onUnreadable: (reason: string) => void): SecretsRow {
    const { accountId, userinfo, headers, secret } = row;
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
    const values = Object.entries(headers ?? {}).map(([name, value]) => [
      name,
      renew('header', value),
    ]);
    return {
      ...row,
      userinfo: userinfo && renew('userinfo', userinfo),
      headers: headers && (Object.fromEntries(values) as Record<string, Sealed>),
      secret: renew('secret', secret),
      retiredSecrets: row.retiredSecrets.map((retired) => ({
        ...retired,
        secret: renew('secret', retired.secret),
      })),
    };
  }
}
