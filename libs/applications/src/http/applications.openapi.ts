import { AddressSchema, DeletedSchema, describeRoutes, schema } from '#libs/http';
import { ApplicationView } from './application.dto.js';
import { ApplicationsController } from './applications.controller.js';

/** Applications in the API description. */
export const applicationsRoutes = [
  describeRoutes(ApplicationsController, {
    tag: 'Applications',
    about: "Applications of the caller's account.",
    path: {
      id: {
        about: "The application's id.",
        schema: schema.numericId('', '5080983'),
      },
    },
    operations: {
      list: {
        summary: 'List applications',
        about:
          "Returns all of the caller's applications in ascending order of id, or a page of them.",
        answer: schema.arrayOf(ApplicationView.schema),
      },
      show: {
        summary: 'Show an application',
        about: 'Returns an application, with its version as `ETag`.',
        answer: ApplicationView.schema,
        headers: ['ETag'],
      },
      create: {
        summary: 'Create an application',
        about:
          'Creates an application. It must have a `name`, and a `voiceUrl` or a `messagingUrl`.',
        examples: {
          voice: { name: 'Shop', voiceUrl: 'https://shop.example.com/voice' },
          everything: {
            name: 'Shop',
            voiceUrl: 'https://shop.example.com/voice',
            messagingUrl: 'https://shop.example.com/sms',
            environment: '2',
            apiType: 'webapi',
          },
          environmentByAddress: {
            name: 'Shop',
            messagingUrl: 'https://shop.example.com/sms',
            environment: 'https://api.example.com/v1/environments/1',
          },
        },
        answer: AddressSchema,
        headers: ['ETag'],
      },
      update: {
        summary: 'Update an application',
        about: 'Updates the given fields. Afterwards, `voiceUrl` or `messagingUrl` is required.',
        examples: {
          rename: { name: 'Shop 2' },
          onlyMessaging: { voiceUrl: null, messagingUrl: 'https://shop.example.com/sms' },
        },
        answer: AddressSchema,
      },
      delete: {
        summary: 'Delete an application',
        about:
          'Deletes an application and its webhook subscriptions, and cancels their pending deliveries.',
        answer: DeletedSchema,
      },
    },
  }),
];
