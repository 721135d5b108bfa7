import { describeRoutes, schema } from '#libs/http';
import { DocsController } from './docs.controller.js';

/** The route of the description itself. */
export const docsRoutes = [
  describeRoutes(DocsController, {
    tag: 'Description',
    about: 'This description. `/docs` renders it for people.',
    operations: {
      openApi: {
        summary: 'Get this description',
        about: 'OpenAPI 3.1, generated from the running code.',
        answer: schema.anyObject('', { openapi: '3.1.0' }),
      },
    },
  }),
];
