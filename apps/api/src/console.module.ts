import type { NextFunction, Request, Response } from 'express';
import {
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  RequestMethod,
} from '@nestjs/common';
import { pathOf } from '#libs/http';
import { NotFoundError } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';
import { BuiltFiles } from './built-files.js';

const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
  "connect-src 'self'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
  "require-trusted-types-for 'script'";
const NO_HINT = '<meta name="login-hint" content=""';
const HOME = '/console/';
const ASSETS = `${HOME}assets/`;
/** Folders in the address of a page; its router has pages in up to three. */
const MAX_DEPTH = 10;

/**
 * Serves the static files of the console at `/console/`, without credentials, which the API needs. Redirects `/` to
 * it, or to `/docs` without the console.
 */
@Module({})
export class ConsoleModule implements NestModule {
  private readonly files: BuiltFiles | undefined;

  constructor(@Inject(CONFIG) config: Config) {
    this.files = config.CONSOLE
      ? BuiltFiles.read('console', (page) => withLoginHint(page, config.CONSOLE_LOGIN_HINT))
      : undefined;
  }

  /** Not in a controller, whose routes are part of the API's description. */
  configure(consumer: MiddlewareConsumer): void {
    const { files } = this;
    consumer
      .apply((request: Request, response: Response) => {
        // Express treats `//` like `/`, but it is an unknown path.
        if (request.path !== '/') throw new NotFoundError('path');
        // Relative, because a proxy may add a path prefix.
        response.redirect(files ? 'console/' : 'docs');
      })
      .forRoutes({ path: '/', method: RequestMethod.GET });
    if (!files) return;
    consumer
      .apply((request: Request, response: Response, next: NextFunction) => {
        answer(files, request, response).catch(next);
      })
      .forRoutes(
        { path: 'console', method: RequestMethod.GET },
        { path: 'console/{*path}', method: RequestMethod.GET },
      );
  }
}

async function answer(files: BuiltFiles, request: Request, response: Response): Promise<void> {
  const path = pathOf(request);
  if (!path.startsWith(HOME)) {
    response.redirect(HOME.slice(1));
  } else if (path.startsWith(ASSETS)) {
    await files.answerAsset(path.slice(ASSETS.length), request, response);
  } else {
    // The console's router knows its pages.
    const depth = path.slice(HOME.length).split('/', MAX_DEPTH + 2).length - 1;
    // Limits the size of the page, which grows with the depth.
    if (depth > MAX_DEPTH) throw new NotFoundError('path');
    const root = '../'.repeat(depth) || './';
    files.answerPage('index.html', { root, policy: POLICY }, response);
  }
}

/** The page with the hint of its login. */
function withLoginHint(page: string, hint: string): string {
  const escaped = hint.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
  return page.replace(NO_HINT, () => NO_HINT.replace('""', () => `"${escaped}"`));
}
