import { type Browser, chromium, type Page } from 'playwright-core';
import { requireBrowser } from '#tools/browser';

// Not in a hook of a test, which would not wait long enough for an installation.
const executablePath = await requireBrowser();

let running: Promise<Browser> | undefined;

/** A real browser, the same one for all test files of this process, which ends it. */
export function startBrowser(): Promise<Browser> {
  return (running ??= launch());
}

function launch(): Promise<Browser> {
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
