import { Injectable } from '@nestjs/common';
import { type Sealed, SecretBox, UnreadableSecretError } from '#libs/kernel';
import { TypeOrmTransactions } from '#libs/runtime';
import { isMaskedTargetUrl } from '../domain/target-url.js';
import { type SecretField, WebhookSecrets } from '../domain/webhook-secrets.js';
import { FIND_SECRETS, type SecretsRow, WRITE_SECRETS } from './webhook.statements.js';

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
          targetUrls: changed.map((row) => row.targetUrl),
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
    const { accountId, targetUrl, userinfo, headers, secret } = row;
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
      ...target,
      headers: headers && (Object.fromEntries(values) as Record<string, Sealed>),
      secret: renew('secret', secret),
      retiredSecrets: row.retiredSecrets.map((retired) => ({
        ...retired,
        secret: renew('secret', retired.secret),
      })),
    };
  }
}
