import { SecretsReencryption, SubscriptionsModule } from '#libs/webhooks';
import { withService } from './services.js';

/** Runs `use` with the stored secrets of this installation. */
export function withSecrets<Result>(
  use: (secrets: SecretsReencryption) => Promise<Result>,
): Promise<Result> {
  return withService(SubscriptionsModule, SecretsReencryption, use);
}
