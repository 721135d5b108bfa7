import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Controller, Get, Inject, Param, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { baseUrlOf, pathOf, Public } from '#libs/http';
import { NotFoundError } from '#libs/kernel';

/**
 * Injection token of the API description as JSON text, without servers and its first brace. It is generated
 * once, on first use.
 */
export const API_DESCRIPTION = Symbol('ApiDescription');

const { resolve } = createRequire(import.meta.url);

/** Swagger UI needs style attributes. Everything else is loaded from, and sent to, this host only. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; " +
  "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; " +
  "frame-ancestors 'none'";

/** Without the validator, which would be on another host. */
const START = `SwaggerUIBundle({
  url: new URL('../openapi.json', document.currentScript.src).href,
  dom_id: '#docs',
  deepLinking: true,
  displayOperationId: true,
  validatorUrl: null,
  // Otherwise the browser keeps a 401 to itself, and asks for credentials.
  requestInterceptor: (request) => ({ ...request, credentials: 'omit' }),
});
`;

/** The examples of errors differ in a sentence, and would make every operation many screens high. */
const STYLE = `tr.response:is([data-code^='4'], [data-code^='5'])
  .response-col_description > :not(.response-col_description__inner) {
  display: none;
}
`;

const ASSETS: Readonly<Record<string, { type: string; read: () => Promise<Buffer> }>> = {
  'start.js': { type: 'text/javascript', read: () => Promise.resolve(Buffer.from(START)) },
  'docs.css': { type: 'text/css', read: () => Promise.resolve(Buffer.from(STYLE)) },
  'swagger-ui.css': { type: 'text/css', read: () => fileOf('swagger-ui.css') },
  'swagger-ui-bundle.js': { type: 'text/javascript', read: () => fileOf('swagger-ui-bundle.js') },
};

/** The names of the page's files. */
export const ASSET_NAMES = Object.keys(ASSETS);

const files = new Map<string, Promise<Buffer>>();

/** Requests share one copy: the largest file has 1.7 MB, and anyone may request it often and slowly. */
function fileOf(name: string): Promise<Buffer> {
  let file = files.get(name);
  if (!file) {
    file = readFile(resolve(`swagger-ui-dist/${name}`));
    files.set(name, file);
    // Failed reads are not cached.
    file.catch(() => files.delete(name));
  }
  return file;
}

/** The API description, for programs and for people; without credentials. */
@Public()
@Controller()
export class DocsController {
  constructor(@Inject(API_DESCRIPTION) private readonly description: () => Buffer) {}

  @Get('openapi.json')
  openApi(@Req() request: Request, @Res() response: Response): void {
    // All answers share the rest, which is large, while their bases differ.
    const start = Buffer.from(`{"servers":${JSON.stringify([{ url: baseUrlOf(request) }])},`);
    const rest = this.description();
    response.setHeader('Content-Type', 'application/json; charset=utf-8');
    response.setHeader('Content-Length', start.length + rest.length);
    response.write(start);
    response.end(rest);
  }

  @Get('docs')
  page(@Req() request: Request, @Res() response: Response): void {
    response.setHeader('Content-Security-Policy', POLICY);
    // Relative addresses, because a proxy may add a path prefix.
    const folder = pathOf(request).endsWith('/') ? '' : 'docs/';
    response.type('html').send(pageOf(folder));
  }

  @Get('docs/:asset')
  async asset(@Param('asset') name: string, @Res() response: Response): Promise<void> {
    const asset = Object.hasOwn(ASSETS, name) ? ASSETS[name] : undefined;
    if (!asset) throw new NotFoundError('path');
    response.setHeader('Cache-Control', 'public, max-age=3600');
    response.type(asset.type).send(await asset.read());
  }
}

function pageOf(folder: string): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8" />
    <meta name="viewport" content="width=device-width, initial-scale=1" />
    <title>Switchhook API</title>
    <link rel="icon" href="data:," />
    <link rel="stylesheet" href="${folder}swagger-ui.css" />
    <link rel="stylesheet" href="${folder}docs.css" />
  </head>
  <body>
    <div id="docs"></div>
    <script src="${folder}swagger-ui-bundle.js"></script>
    <script src="${folder}start.js"></script>
  </body>
</html>
`;
}
