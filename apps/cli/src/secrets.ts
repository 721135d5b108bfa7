import { Module } from '@nestjs/common';
import { SecretsReencryption, WebhooksModule } from '#libs/webhooks';
import { kernel, withService } from './services.js';

/** Does not start without the keys of secrets in production; nothing else here needs them. */
@Module({ imports: [kernel, WebhooksModule] })
class SecretsModule {}

/** Runs `use` with the stored secrets of this installation. */
export function withSecrets<Result>(
  use: (secrets: SecretsReencryption) => Promise<Result>,
): Promise<Result> {
  return withService(SecretsReencryption, use, SecretsModule);
}
