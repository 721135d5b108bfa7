import { type Browser, chromium, type Page } from 'playwright-core';

/** A real browser, which `npm test` has brought. */
export function startBrowser(): Promise<Browser> {
  const executablePath = process.env['TEST_BROWSER'];
  if (executablePath === undefined) throw new Error('TEST_BROWSER is not set: use npm test');
  // Root cannot have its sandbox.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** What the browser complains of on a page: errors of scripts, and violations of its policy. */
export function complaintsOn(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // A request that is answered with an error is what some tests want.
    const isOfRequest = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfRequest) complaints.push(message.text());
  });
  return complaints;
}
