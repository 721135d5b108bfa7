import {
  Inject,
  type MiddlewareConsumer,
  Module,
  type NestModule,
  RequestMethod,
} from '@nestjs/common';
import type { Request, Response } from 'express';
import { NotFoundError } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';
import { BuiltFiles } from './built-files.js';

/** @param ancestors the origins of pages that may show the console in a frame */
function policyFor(ancestors: readonly string[]): string {
  return (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
    "connect-src 'self'; " +
    "img-src 'self' data:; base-uri 'none'; form-action 'self'; " +
    `frame-ancestors ${ancestors.length > 0 ? ancestors.join(' ') : "'none'"}; ` +
    "require-trusted-types-for 'script'"
  );
}

const HOME = '/console/';
/** More nested addresses are unknown. The console's router uses up to three segments. */
const MAX_DEPTH = 10;

/**
 * Serves the console at `/console/` and redirects `/` to it; without the console, `/` redirects to `/docs`. Its static
 * files need no credentials: the page reads all data from the API.
 */
@Module({})
export class ConsoleModule implements NestModule {
  private readonly files: BuiltFiles | undefined;
  private readonly ancestors: readonly string[];

  constructor(@Inject(CONFIG) config: Config) {
    this.ancestors = config.CONSOLE_FRAME_ANCESTORS;
    this.files = config.CONSOLE ? BuiltFiles.read('console') : undefined;
  }

  configure(consumer: MiddlewareConsumer): void {
    const { files, ancestors } = this;
    const policy = policyFor(ancestors);
    consumer
      .apply((request: Request, response: Response) => {
        // Express treats `//` as `/`; here it is a different, unknown path.
        if (request.path !== '/') throw new NotFoundError('path');
        // Relative, because a proxy may add a path prefix.
        response.redirect(files ? 'console/' : 'docs');
      })
      .forRoutes({ path: '/', method: RequestMethod.GET });
    files?.serve(consumer, 'console', (path, response) => {
      if (!path.startsWith(HOME)) {
        response.redirect(HOME.slice(1));
        return;
      }
      // The console's router decides whether the page exists.
      const depth = path.slice(HOME.length).split('/', MAX_DEPTH + 2).length - 1;
      // The root path in the page grows with the depth.
      if (depth > MAX_DEPTH) throw new NotFoundError('path');
      const root = '../'.repeat(depth) || './';
      // Older than the policy, and would deny every frame.
      if (ancestors.length > 0) response.removeHeader('X-Frame-Options');
      files.answerPage('index.html', { root, policy }, response);
    });
  }
}
