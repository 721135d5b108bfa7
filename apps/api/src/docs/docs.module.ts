import { Module } from '@nestjs/common';
import { CONFIG, type Config } from '#libs/runtime';
import { describeApi } from './api-description.js';
import { API_DESCRIPTION, DocsController } from './docs.controller.js';

/** `/openapi.json` and `/docs`. */
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
export class DocsModule {}
