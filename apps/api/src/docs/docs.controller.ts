import { Controller, Get, Inject } from '@nestjs/common';
import { Answer, baseUrlOf, Public } from '#libs/http';

/**
 * Injection token of the API description as JSON text, without servers and its first brace. It is generated
 * once, on first use.
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
      // All answers share the rest, which is large, while their bases differ.
      const start = Buffer.from(`{"servers":${JSON.stringify([{ url: baseUrlOf(request) }])},`);
      const rest = this.description();
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      response.setHeader('Content-Length', start.length + rest.length);
      response.write(start);
      response.end(rest);
    });
  }
}
