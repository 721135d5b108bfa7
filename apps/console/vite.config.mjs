import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));

/** A running API, for `npm run console:dev`. */
const API = process.env['CONSOLE_API'] ?? 'http://127.0.0.1:3000';

export default defineConfig(({ command }) => ({
  root: pathOf('.'),
  // A proxy may add a path prefix, so the built files contain no absolute path.
  base: command === 'serve' ? '/console/' : './',
  cacheDir: pathOf('../../node_modules/.cache/vite'),
  plugins: [react()],
  build: {
    outDir: pathOf('../../dist/apps/console'),
    emptyOutDir: true,
    // The oldest browsers with light-dark().
    target: ['chrome123', 'firefox120', 'safari17.5'],
    // The page's Content-Security-Policy allows only files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // What many pages share is one file: each file is a request, and is compressed by itself.
    rolldownOptions: {
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 12 }] } },
    },
  },
  logLevel: command === 'build' ? 'warn' : 'info',
  server: { proxy: { '/v1': API, '/docs': API, '/openapi.json': API } },
}));
