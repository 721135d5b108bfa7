import { type HrefBuilder, schema } from '#libs/http';
import { API_TYPES } from '../domain/api-type.js';
import type { Application } from '../domain/application.js';

/** What {@link showApplication} shows. */
export const ApplicationSchema = schema.named(
  'Application',
  schema.object(
    {
      href: schema.href('Its address.', 'applications/5080983'),
      id: schema.numericId('Its id, the last segment of `href`.', '5080983'),
      name: schema.text('What it is called.', 'Shop'),
      platform: schema.choice('Always the same as `apiType`.', API_TYPES, 'webapi'),
      apiType: schema.choice('How it is driven.', API_TYPES, 'webapi'),
      voiceUrl: schema.text('Powers its voice calls.', 'https://shop.example.com/voice'),
      messagingUrl: schema.text('Powers its messaging (SMS).', 'https://shop.example.com/sms'),
      environment: schema.href('The environment that it runs in.', 'environments/2'),
      userId: schema.integer('The user whose it is.', 83346),
      user: schema.href('The address of that user.', 'users/83346'),
      partition: schema.text(
        'Only on applications from before there were environments: `Production` means billable.',
        'Production',
      ),
      createdAt: schema.time('When it was made.'),
      updatedAt: schema.time('When a field last got another value.'),
    },
    { optional: ['voiceUrl', 'messagingUrl', 'environment', 'partition'] },
  ),
);

/** An application as it is shown, its members in the order that clients know. */
export function showApplication(application: Application, href: HrefBuilder): object {
  const { id, userId, name, apiType, voiceUrl, messagingUrl, environmentId } = application;
  return {
    href: href('applications', id),
    id,
    name,
    platform: apiType,
    apiType,
    voiceUrl: voiceUrl ?? undefined,
    messagingUrl: messagingUrl ?? undefined,
    environment: environmentId === null ? undefined : href('environments', environmentId),
    userId: Number(userId),
    user: href('users', userId),
    partition: application.partition ?? undefined,
    createdAt: application.createdAt,
    updatedAt: application.updatedAt,
  };
}
