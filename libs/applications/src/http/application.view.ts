import { type HrefBuilder, schema } from '#libs/http';
import { API_TYPES } from '../domain/api-type.js';
import type { Application } from '../domain/application.js';

/** The result of {@link showApplication}. */
export const ApplicationSchema = schema.named(
  'Application',
  schema.object(
    {
      href: schema.href('The address.', 'applications/5080983'),
      id: schema.numericId('The id, which is the last segment of `href`.', '5080983'),
      name: schema.text('The name.', 'Shop'),
      platform: schema.choice('Always the same as `apiType`.', API_TYPES, 'webapi'),
      apiType: schema.choice('How the application is driven.', API_TYPES, 'webapi'),
      voiceUrl: schema.text(
        'The URL that drives its voice calls.',
        'https://shop.example.com/voice',
      ),
      messagingUrl: schema.text(
        'The URL that drives its messages (SMS).',
        'https://shop.example.com/sms',
      ),
      environment: schema.href('The environment that it runs in.', 'environments/2'),
      userId: schema.integer('The user who owns it.', 83346),
      user: schema.href('The address of that user.', 'users/83346'),
      partition: schema.text(
        'Only for applications from before environments existed: `Production` means billable.',
        'Production',
      ),
      createdAt: schema.time('When it was made.'),
      updatedAt: schema.time('When a field last changed.'),
    },
    { optional: ['voiceUrl', 'messagingUrl', 'environment', 'partition'] },
  ),
);

/** An application in the form that answers contain, with its members in the documented order. */
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
