import type { Request, Response } from 'express';
import { Controller, Get, Inject, Req, Res } from '@nestjs/common';
import { baseUrlOf, describeRoutes, Public, schema } from '#libs/http';

/** Injection token of the API description as JSON text without servers and the first brace, made on first use. */
export const API_DESCRIPTION = Symbol('ApiDescription');

/** The API description, for programs; without credentials. */
@Public()
@Controller()
export class DocsController {
  constructor(@Inject(API_DESCRIPTION) private readonly description: () => Buffer) {}

  @Get('openapi.json')
  openApi(@Req() request: Request, @Res() response: Response): void {
    // Only the base differs between answers; the rest is large and shared.
    const start = Buffer.from(`{"servers":${JSON.stringify([{ url: baseUrlOf(request) }])},`);
    const rest = this.description();
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', start.length + rest.length);
    response.write(start);
    response.end(rest);
  }
}

/** The route of the description itself. */
export const docsRoutes = [
  describeRoutes(DocsController, {
    tag: 'Description',
    about: 'This description. `/docs` shows it to people.',
    operations: {
      openApi: {
        summary: 'Get this description',
        about: 'OpenAPI 3.1, generated from the running code.',
        answer: schema.anyObject('', { openapi: '3.1.0' }),
      },
    },
  }),
];
