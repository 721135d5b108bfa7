import { type Browser, chromium, type Page } from 'playwright-core';
import { requireBrowser } from '#tools/browser';

// Not in a hook of a test, whose timeout is too short for an installation.
const executablePath = await requireBrowser();

let running: Promise<Browser> | undefined;

/** One browser for all test files of this process. It ends with the process. */
export function startBrowser(): Promise<Browser> {
  return (running ??= launch());
}

function launch(): Promise<Browser> {
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
