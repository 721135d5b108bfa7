import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type MiddlewareConsumer, RequestMethod } from '@nestjs/common';
import type { NextFunction, Request, Response } from 'express';
import { pathOf } from '#libs/http';
import { NotFoundError } from '#libs/kernel';

const BUILT = join(dirname(createRequire(import.meta.url).resolve('#package.json')), 'dist/apps');
/** The prefix of all addresses of files and pages in a page. */
const FROM_ROOT = '"./';
/** What stands in a page for the address of the service. */
const OWN_ADDRESS = 'https://switchhook.example.com';
/** The names of assets change with their content. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** The headers and body of an asset. */
interface Asset {
  type: string;
  bytes: Buffer;
  /** Whether its format is already compressed. */
  isCompressed: boolean;
  /** Compressed on first use, once for all requests. */
  gzipped: () => Promise<Buffer>;
}

/** An app's built files, in memory: they take less than 2 MB, and anyone may request them. */
export class BuiltFiles {
  /** Pages by root and name, cut where they show the address of the service. There are few roots, and anyone may request a page many times at once. */
  private readonly rooted = new Map<string, Buffer[]>();

  private constructor(
    private readonly assets: ReadonlyMap<string, Asset>,
    private readonly pages: ReadonlyMap<string, string>,
  ) {}

  /**
   * @param app its folder below `apps`
   * @param change to each page
   * @returns undefined if the build left it out
   */
  static read(app: string, change = (page: string) => page): BuiltFiles | undefined {
    const dir = join(BUILT, app);
    try {
      const pages = readdirSync(dir)
        .filter((name) => name.endsWith('.html'))
        .map((name) => [name, change(readFileSync(join(dir, name), 'utf8'))] as const);
      const assets = readdirSync(join(dir, 'assets')).map(
        (name) => [name, readAsset(join(dir, 'assets', name))] as const,
      );
      return new BuiltFiles(new Map(assets), new Map(pages));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  /**
   * Serves assets, and everything else with `answer`. As middleware, because a controller's routes belong to the described
   * API.
   * @param prefix of their addresses, without slashes
   */
  serve(
    consumer: MiddlewareConsumer,
    prefix: string,
    answer: (path: string, response: Response) => void,
  ): void {
    const assets = `/${prefix}/assets/`;
    consumer
      .apply((request: Request, response: Response, next: NextFunction) => {
        const path = pathOf(request);
        if (!path.startsWith(assets)) answer(path, response);
        else this.answerAsset(path.slice(assets.length), request, response).catch(next);
      })
      .forRoutes(
        { path: prefix, method: RequestMethod.GET },
        { path: `${prefix}/{*path}`, method: RequestMethod.GET },
      );
  }

  /**
   * Answers with a page and its Content-Security-Policy.
   * @param root of the app, relative to the page's address: a proxy may add a path prefix. One of a few
   * @param address of the service, for a page that shows it
   */
  answerPage(
    name: string,
    { root, policy }: { root: string; policy: string },
    response: Response,
    address = OWN_ADDRESS,
  ): void {
    response.setHeader('Content-Security-Policy', policy);
    response.setHeader('Cache-Control', 'no-cache');
    const shown = Buffer.from(address);
    const parts = this.pageAt(root, name).flatMap((part, n) => (n === 0 ? [part] : [shown, part]));
    response.type('html').send(Buffer.concat(parts));
  }

  private pageAt(root: string, name: string): Buffer[] {
    const key = root + name;
    let parts = this.rooted.get(key);
    if (!parts) {
      const page = this.pages.get(name)!.replaceAll(FROM_ROOT, `"${root}`);
      parts = page.split(OWN_ADDRESS).map((part) => Buffer.from(part));
      this.rooted.set(key, parts);
    }
    return parts;
  }

  /** @throws NotFoundError */
  private async answerAsset(name: string, request: Request, response: Response): Promise<void> {
    const asset = this.assets.get(name);
    if (!asset) throw new NotFoundError('path');
    response.setHeader('Content-Type', asset.type);
    response.setHeader('Cache-Control', FOR_EVER);
    if (!asset.isCompressed) response.setHeader('Vary', 'Accept-Encoding');
    if (asset.isCompressed || request.acceptsEncodings('gzip') !== 'gzip') {
      response.send(asset.bytes);
      return;
    }
    response.setHeader('Content-Encoding', 'gzip');
    response.send(await asset.gzipped());
  }
}

function readAsset(path: string): Asset {
  const bytes = readFileSync(path);
  let gzipped: Promise<Buffer> | undefined;
  return {
    type: TYPES[extname(path)] ?? 'application/octet-stream',
    bytes,
    isCompressed: path.endsWith('.woff2'),
    gzipped: () => (gzipped ??= promisify(gzip)(bytes, { level: 9 })),
  };
}
