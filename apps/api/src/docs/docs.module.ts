import { type MiddlewareConsumer, Inject, Module, type NestModule } from '@nestjs/common';
import { baseUrlOf } from '#libs/http';
import { NotFoundError } from '#libs/kernel';
import { CONFIG, type Config } from '#libs/runtime';
import { BuiltFiles } from '../built-files.js';
import { describeApi } from './api-description.js';
import { API_DESCRIPTION, DocsController } from './docs.controller.js';

const FILES_ALONE =
  "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; " +
  "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface Page {
  name: string;
  /** The path from its address to the folder of the files. */
  root: string;
  policy: string;
}

const PAGES: Readonly<Record<string, Page>> = {
  '/docs': reference('docs/'),
  '/docs/': reference('./'),
  ...guide('receiving', './'),
  ...guide('receiving/notifications', '../'),
  ...guide('receiving/subscriptions', '../'),
  ...guide('receiving/finding', '../'),
  ...guide('receiving/feed', '../'),
};

/** Swagger UI fetches the description, sends requests, and writes its own HTML. */
function reference(root: string) {
  return { name: 'reference.html', root, policy: `${FILES_ALONE}; connect-src 'self'` };
}

/** A page of the guide, also at its address with a slash at the end. */
function guide(address: string, root: string): Record<string, Page> {
  const name = `${address.replace('/', '-')}.html`;
  const policy = `${FILES_ALONE}; require-trusted-types-for 'script'`;
  const below = root === './' ? '../' : `../${root}`;
  return {
    [`/docs/${address}`]: { name, root, policy },
    [`/docs/${address}/`]: { name, root: below, policy },
  };
}

const CONSOLE_LINK = /<a href="[^"]*\/console\/">.*?<\/a>/;

/**
 * Serves `/openapi.json` and pages without credentials: the API reference at `/docs`, and the guide for receivers at
 * `/docs/receiving` and below.
 */
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
  private readonly files: BuiltFiles | undefined;

  constructor(@Inject(CONFIG) { CONSOLE }: Config) {
    this.files = BuiltFiles.read('docs', (page) =>
      CONSOLE ? page : page.replace(CONSOLE_LINK, ''),
    );
  }

  configure(consumer: MiddlewareConsumer): void {
    this.files?.serve(consumer, 'docs', (path, response) => {
      const page = Object.hasOwn(PAGES, path) ? PAGES[path] : undefined;
      if (!page) throw new NotFoundError('path');
      this.files?.answerPage(page.name, page, response, baseUrlOf(response.req));
    });
  }
}
