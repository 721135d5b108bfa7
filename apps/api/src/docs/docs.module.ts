import { type MiddlewareConsumer, Module, type NestModule, RequestMethod } from '@nestjs/common';
import type { Request, Response } from 'express';
import { NotFoundError } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';
import { describeApi } from './api-description.js';
import { API_DESCRIPTION, DocsController } from './docs.controller.js';

/** `/openapi.json` and `/docs`, to which `/` leads a browser. */
@Module({
  controllers: [DocsController],
  providers: [
    {
      provide: API_DESCRIPTION,
      inject: [CONFIG],
      useFactory: (config: Config) => {
        let text: Buffer | undefined;
        return () => (text ??= Buffer.from(JSON.stringify(describeApi(config)).slice(1)));
      },
    },
  ],
})
export class DocsModule implements NestModule {
  /** Not in a controller, whose routes are the API's and described. */
  configure(consumer: MiddlewareConsumer): void {
    consumer
      .apply((request: Request, response: Response) => {
        // Express takes `//` for `/`; to us it's another path, and unknown.
        if (request.path !== '/') throw new NotFoundError('path');
        // Relative, because a proxy may add a path prefix.
        response.redirect('docs');
      })
      .forRoutes({ path: '/', method: RequestMethod.GET });
  }
}
