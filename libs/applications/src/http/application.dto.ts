import { computed, schema, viewOf } from '#libs/http';
import { API_TYPES, type Application, ApplicationFields } from '../domain/application.js';

/** `POST /v1/applications` */
export class CreateApplicationDto extends ApplicationFields {
  declare name: string;
}

/** `PUT /v1/applications/:id` */
export class UpdateApplicationDto extends ApplicationFields {}

const { optional } = schema;

/** An application in the form that answers contain. */
export const ApplicationView = viewOf<Application>()('Application', {
  href: computed(schema.href("The application's URL.", 'applications/5080983'), ({ id }, href) =>
    href('applications', id),
  ),
  id: schema.numericId("The application's id, which is the last segment of `href`.", '5080983'),
  name: schema.text("The application's name.", 'Shop'),
  platform: computed(
    schema.choice('Always the same as `apiType`.', API_TYPES, 'webapi'),
    ({ apiType }) => apiType,
  ),
  apiType: schema.choice('The kind of API that controls the application.', API_TYPES, 'webapi'),
  voiceUrl: optional(
    schema.text(
      "The URL that handles the application's voice calls.",
      'https://shop.example.com/voice',
    ),
  ),
  messagingUrl: optional(
    schema.text(
      "The URL that handles the application's messages (SMS).",
      'https://shop.example.com/sms',
    ),
  ),
  environment: computed(
    optional(
      schema.href('The URL of the environment that the application runs in.', 'environments/2'),
    ),
    ({ environmentId }, href) => environmentId && href('environments', environmentId),
  ),
  userId: computed(
    schema.accountNumber('The id of the user who owns the application.'),
    ({ userId }) => Number(userId),
  ),
  user: computed(schema.href("That user's URL.", 'users/83346'), ({ userId }, href) =>
    href('users', userId),
  ),
  partition: optional(
    schema.text(
      'Only for applications imported from before environments existed: `Production` means billable.',
      'Production',
    ),
  ),
  createdAt: schema.time('When the application was created.'),
  updatedAt: schema.time('When a field of the application was last changed.'),
});
