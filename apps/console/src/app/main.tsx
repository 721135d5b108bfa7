import '../styles/fonts.css';
import '../styles/base.css';
import '../styles/components.css';
import '../styles/forced-colors.css';
import '../styles/print.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Router } from 'wouter';
import { BASE_PATH } from './addresses.js';
import { App } from './app.js';
import { mendAfterOutages } from './outage.js';
import { queryClient } from './query-client.js';
import { reloadIfUp } from './reload.js';
import './theme.js';

/** A shell this recent already names the newest files, so reloading would not help. */
const YOUNG_MS = 10_000;

// After an upgrade, the open page's files are gone. A new shell names the new ones.
window.addEventListener('vite:preloadError', () => {
  if (performance.now() > YOUNG_MS) void reloadIfUp();
});

mendAfterOutages();

// Load fonts while the session is checked, so that no text changes its width later.
for (const font of ['Inter', 'JetBrains Mono']) {
  void document.fonts.load(`1em '${font}'`).catch(() => undefined);
}

const root = document.getElementById('console');
if (!root) throw new Error('the shell has no place for the console');
createRoot(root).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <Router base={BASE_PATH}>
        <App />
      </Router>
    </QueryClientProvider>
  </StrictMode>,
);
