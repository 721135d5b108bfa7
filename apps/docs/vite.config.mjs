import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';
import { contentsOf, guidePages, indexOf, listOf } from './guide.mjs';

const pathOf = (/** @type {string} */ path) => fileURLToPath(new URL(path, import.meta.url));
const textOf = (/** @type {string} */ path) => readFileSync(pathOf(path), 'utf8');

const GUIDE = guidePages();
/** The pages of the guide by the paths of their files, which exist only while Vite builds. */
const GUIDE_FILES = new Map(
  GUIDE.map((page) => [pathOf(`${page.address.replace('/', '-')}.html`), page]),
);

/** Gives each page of the guide the same template. @returns {import('vite').Plugin} */
function guideFiles() {
  return {
    name: 'guide-files',
    resolveId: (id) => (GUIDE_FILES.has(id) ? id : undefined),
    load: (id) => (GUIDE_FILES.has(id) ? textOf('guide.html') : undefined),
  };
}

/** Inserts the shared parts into each page, and its text into one of the guide. @returns {import('vite').Plugin} */
function parts() {
  return {
    name: 'parts',
    transformIndexHtml: {
      order: 'pre',
      handler(html, { filename }) {
        const page = GUIDE_FILES.get(filename);
        const name = page ? 'Receiving guide' : 'API reference';
        const [icon = ''] = /<link\s+rel="icon"[^>]*>/.exec(textOf('../console/index.html')) ?? [];
        const bar = textOf('bar.html').replace(`">${name}<`, `" aria-current="page">${name}<`);
        const shared = html.replace('<!-- icon -->', () => icon).replace('<!-- bar -->', () => bar);
        return page ? withText(shared, page) : shared;
      },
    },
  };
}

/** @param {string} html @param {import('./guide.mjs').GuidePage} page */
function withText(html, page) {
  const index = page === GUIDE[0] ? indexOf(GUIDE) : '';
  return html
    .replace('<!-- title -->', () => page.title)
    .replaceAll('<!-- pages -->', () => listOf(GUIDE, page))
    .replaceAll('<!-- contents -->', () => contentsOf(page))
    .replace('<!-- guide -->', () => page.text + index);
}

export default defineConfig({
  root: pathOf('.'),
  // A proxy may add a path prefix, so the built files contain no absolute path.
  base: './',
  cacheDir: pathOf('../../node_modules/.cache/vite-docs'),
  plugins: [guideFiles(), parts()],
  build: {
    outDir: pathOf('../../dist/apps/docs'),
    emptyOutDir: true,
    // The same as the console.
    target: ['chrome123', 'firefox120', 'safari17.5'],
    rolldownOptions: {
      input: [pathOf('reference.html'), ...GUIDE_FILES.keys()],
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
