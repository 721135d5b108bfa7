import { createRequire } from 'node:module';

/** The commit of the build, which `apps/bundle.mjs` puts here; absent in sources that were not built. */
declare const BUILT_FROM: string | undefined;

const { version } = createRequire(import.meta.url)('#package.json') as { version: string };

/** The version of Switchhook. Between releases, a build adds its commit: `2.0.1-dev+1a2b3c4d`. */
export const VERSION =
  version.endsWith('-dev') && typeof BUILT_FROM === 'string' ? `${version}+${BUILT_FROM}` : version;
