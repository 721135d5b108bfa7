import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const DIR = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));

/** Takes a picture of what is on the screen, for the documentation; only `npm run console:pictures` does. */
export async function picture(page: Page, name: string): Promise<void> {
  if (process.env['CONSOLE_PICTURES'] !== '1') return;
  // What was told before is no part of it.
  for (const close of await page.getByLabel('Close this message').all()) await close.click();
  await mkdir(DIR, { recursive: true });
  await page.screenshot({ path: `${DIR}${name}.png`, animations: 'disabled' });
}
