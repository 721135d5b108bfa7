import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { guideOf } from './guide.mjs';

const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const textOf = (/** @type {string} */ path) => readFileSync(pathOf(path), 'utf8');

const PAGES = { reference: 'API reference', receiving: 'Receiving guide' };

/** Inserts the shared parts into each page, and the guide into its own. @returns {import('vite').Plugin} */
function parts() {
  return {
    name: 'parts',
    transformIndexHtml: {
      order: 'pre',
      handler(html, { path }) {
        const name = path === '/receiving.html' ? PAGES.receiving : PAGES.reference;
        const { contents, text } = guideOf(textOf('../../docs/receiving.md'));
        const [icon = ''] = /<link\s+rel="icon"[^>]*>/.exec(textOf('../console/index.html')) ?? [];
        const bar = textOf('bar.html').replace(`">${name}<`, `" aria-current="page">${name}<`);
        return html
          .replace('<!-- icon -->', () => icon)
          .replace('<!-- bar -->', () => bar)
          .replaceAll('<!-- contents -->', () => contents)
          .replace('<!-- guide -->', () => text);
      },
    },
  };
}

export default defineConfig({
  root: pathOf('.'),
  // A proxy may add a path prefix, so the built files contain no absolute path.
  base: './',
  cacheDir: pathOf('../../node_modules/.cache/vite-docs'),
  plugins: [parts()],
  build: {
    outDir: pathOf('../../dist/apps/docs'),
    emptyOutDir: true,
    // The same as the console.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    rolldownOptions: {
      input: { reference: pathOf('reference.html'), receiving: pathOf('receiving.html') },
    },
    // The pages' Content-Security-Policy allows only files.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    // Swagger UI alone exceeds the default.
    chunkSizeWarningLimit: 2_000,
  },
  logLevel: 'warn',
});
