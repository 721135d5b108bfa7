import { statement } from '#libs/runtime';
import type { Webhook } from '../domain/webhook.js';

type Settings = Partial<Pick<Webhook, 'filter' | 'maxPerSecond' | 'maxConcurrent' | 'ordered'>>;

/**
 * Settings of subscriptions that a version has to know, by their names in the API: one that does not would send what the
 * customer does not want.
 */
export const FEATURES = [
  'filter',
  'maxPerSecond',
  'maxConcurrent',
  'ordered',
] as const satisfies readonly (keyof Settings)[];

/** Those that the settings use. */
export function featuresOf(settings: Settings): string[] {
  return FEATURES.filter((name) => (settings[name] ?? false) !== false);
}

/** Notes that features are in use. Nothing takes that back, because older data may depend on them. */
export const NOTE_FEATURES = statement<{ features: string[] }>(
  'INSERT INTO features (name) SELECT unnest(@features::text[]) ON CONFLICT DO NOTHING',
);

/** Notes the features that subscriptions have used before there was a table for them, or that were imported. */
export const USED_FEATURES = `
INSERT INTO features (name)
SELECT DISTINCT feature FROM webhooks CROSS JOIN LATERAL (VALUES
  ('filter', filter IS NOT NULL), ('maxPerSecond', max_per_second IS NOT NULL),
  ('maxConcurrent', max_concurrent IS NOT NULL), ('ordered', ordered)
) AS f(feature, used)
WHERE used AND deleted_at IS NULL
ON CONFLICT DO NOTHING;
`;
