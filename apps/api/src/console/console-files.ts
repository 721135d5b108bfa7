import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';

const BUILT = join(
  dirname(createRequire(import.meta.url).resolve('#package.json')),
  'dist/apps/console',
);
const SHELL = 'index.html';
/** What all addresses of files in the shell begin with. */
const FROM_ROOT = '"./';
const NO_HINT = '<meta name="login-hint" content=""';

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** A file of the console, as it is sent. */
export interface ConsoleFile {
  type: string;
  bytes: Buffer;
  /** Whether its format is compressed already. */
  isCompressed: boolean;
  /** Compressed on first use, once for all requests. */
  gzipped: () => Promise<Buffer>;
}

/** The built files of the console, in memory: they have less than 1 MB, and anyone may request them. */
export class ConsoleFiles {
  private constructor(
    private readonly assets: ReadonlyMap<string, ConsoleFile>,
    private readonly shell: string,
  ) {}

  /**
   * @param loginHint what the login says to everybody
   * @returns undefined if the build left them out
   */
  static read(loginHint: string): ConsoleFiles | undefined {
    try {
      const hint = NO_HINT.replace('""', () => `"${escaped(loginHint)}"`);
      const shell = readFileSync(join(BUILT, SHELL), 'utf8').replace(NO_HINT, () => hint);
      const names = readdirSync(join(BUILT, 'assets'));
      return new ConsoleFiles(new Map(names.map((name) => [name, readAsset(name)])), shell);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
  }

  asset(name: string): ConsoleFile | undefined {
    return this.assets.get(name);
  }

  /**
   * The page that starts the console.
   * @param depth how many folders below `/console/` its address is: a proxy may add a path prefix, so the
   * addresses of its files are relative
   */
  page(depth: number): string {
    return this.shell.replaceAll(FROM_ROOT, `"${'../'.repeat(depth) || './'}`);
  }
}

/** As the value of an attribute in HTML. */
function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

function readAsset(name: string): ConsoleFile {
  const bytes = readFileSync(join(BUILT, 'assets', name));
  let gzipped: Promise<Buffer> | undefined;
  return {
    type: TYPES[extname(name)] ?? 'application/octet-stream',
    bytes,
    isCompressed: name.endsWith('.woff2'),
    gzipped: () => (gzipped ??= promisify(gzip)(bytes, { level: 9 })),
  };
}
