import { Controller, Get, Inject } from '@nestjs/common';
import { Answer, baseUrlOf, describeRoutes, Public, schema } from '#libs/http';

/**
 * Injection token of the API description: JSON text without servers and the opening brace. It is generated once, on
 * first use.
 */
export const API_DESCRIPTION = Symbol('ApiDescription');

/** The API description, for programs; without credentials. */
@Public()
@Controller()
export class DocsController {
  constructor(@Inject(API_DESCRIPTION) private readonly description: () => Buffer) {}

  @Get('openapi.json')
  openApi(): Answer {
    return new Answer((request, response) => {
      // All answers share this large text; only the servers differ.
      const start = Buffer.from(`{"servers":${JSON.stringify([{ url: baseUrlOf(request) }])},`);
      const rest = this.description();
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      response.setHeader('Content-Length', start.length + rest.length);
      response.write(start);
      response.end(rest);
    });
  }
}

/** The route of the description itself. */
export const docsRoutes = [
  describeRoutes(DocsController, {
    tag: 'Description',
    about: 'This API description. `/docs` shows it as a page.',
    operations: {
      openApi: {
        summary: 'Show the API description',
        about: 'An OpenAPI 3.1 document of the running version.',
        answer: schema.anyObject('', { openapi: '3.1.0' }),
      },
    },
  }),
];
