import { Module } from '@nestjs/common';
import { SecretsReencryption, WebhooksModule } from '#libs/webhooks';
import { kernel, withService } from './services.js';

/** A separate module: in production it needs SECRETS_KEYS to start, and no other command does. */
@Module({ imports: [kernel, WebhooksModule] })
class SecretsModule {}

/** Runs `use` with the stored secrets of this installation. */
export function withSecrets<Result>(
  use: (secrets: SecretsReencryption) => Promise<Result>,
): Promise<Result> {
  return withService(SecretsReencryption, use, SecretsModule);
}
