import { Module } from '@nestjs/common';
import { SecretBox } from '#libs/kernel';
import { CONFIG, type Config, InvalidConfigError } from '../config/config.js';
import { Log } from '../logging/log.js';
import { Metrics } from '../telemetry/metrics.js';

/** Provides the {@link SecretBox} with the configured keys. */
@Module({
  providers: [{ provide: SecretBox, inject: [CONFIG, Metrics, Log], useFactory: configuredBox }],
  exports: [SecretBox],
})
export class SecretsModule {}

/** @throws InvalidConfigError in production without a key */
export function requireSecretsKeys({ SECRETS_KEYS: keys, NODE_ENV }: Config): void {
  if (keys.length > 0 || NODE_ENV !== 'production') return;
  throw new InvalidConfigError('configuration: SECRETS_KEYS is not set');
}

/** @throws InvalidConfigError in production without a key */
function configuredBox(config: Config, metrics: Metrics, log: Log): SecretBox {
  requireSecretsKeys(config);
  const { SECRETS_KEYS: keys } = config;
  if (keys.length === 0) {
    log.warn({}, 'secrets are stored unencrypted: SECRETS_KEYS is not set');
  }
  const unreadable = metrics.counter(
    'switchhook_unreadable_secrets_total',
    'Stored secrets that could not be read; the log says why.',
  );
  return new SecretBox(keys, () => unreadable.inc());
}
