import { createRequire } from 'node:module';

/** The version of Switchhook, as package.json has it. */
export const { version: VERSION } = createRequire(import.meta.url)('#package.json') as {
  version: string;
};
