import { describeRoutes, schema } from '#libs/http';
import { ASSET_NAMES, DocsController } from './docs.controller.js';

/** The routes of the description itself. */
export const docsRoutes = [
  describeRoutes(DocsController, {
    tag: 'Description',
    about: 'This description.',
    path: {
      asset: { about: 'A file of the page.', schema: schema.choice('', ASSET_NAMES) },
    },
    operations: {
      openApi: {
        summary: 'Get this description',
        about: 'OpenAPI 3.1, generated from the running code.',
        answer: schema.anyObject('', { openapi: '3.1.0' }),
      },
      page: {
        summary: 'Read this description',
        about: 'A page that shows the description and can send requests.',
        answer: { mediaTypes: ['text/html'] },
      },
      asset: {
        summary: 'Get a file of the page',
        about: 'The files of the page; none of them comes from another host.',
        answer: { mediaTypes: ['text/css', 'text/javascript'] },
      },
    },
  }),
];
