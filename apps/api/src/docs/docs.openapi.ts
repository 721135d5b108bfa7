import { describeRoutes, schema } from '#libs/http';
import { ASSET_NAMES, DocsController } from './docs.controller.js';

/** The description in the description. */
export const docsRoutes = [
  describeRoutes(DocsController, {
    tag: 'Service',
    about: 'Its description, too.',
    path: {
      asset: { about: 'A part of the page.', schema: schema.choice('', ASSET_NAMES) },
    },
    operations: {
      openApi: {
        summary: 'Get this description',
        about: 'OpenAPI 3.1, made from the code that runs.',
        answer: schema.anyObject('', { openapi: '3.1.0' }),
      },
      page: {
        summary: 'Read this description',
        about: 'A page that shows the description and tries it out.',
        answer: { mediaTypes: ['text/html'] },
      },
      asset: {
        summary: 'Get a part of the page',
        about: 'What the page is made of; nothing of it comes from another host.',
        answer: { mediaTypes: ['text/css', 'text/javascript'] },
      },
    },
  }),
];
