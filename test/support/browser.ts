import { type Browser, chromium, type Page } from 'playwright-core';

/** The browser that `npm test` installs. */
export function startBrowser(): Promise<Browser> {
  const executablePath = process.env['TEST_BROWSER'];
  if (executablePath === undefined) throw new Error('TEST_BROWSER is not set: use npm test');
  // Root cannot use its sandbox.
  return chromium.launch({ executablePath, args: ['--no-sandbox', '--disable-gpu'] });
}

/** What the browser reports about a page: script errors, and violations of its policy. */
export function complaintsOn(page: Page): string[] {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    // Some tests want a request that is answered with an error.
    const isOfRequest = message.text().startsWith('Failed to load resource');
    if (message.type() === 'error' && !isOfRequest) complaints.push(message.text());
  });
  return complaints;
}
