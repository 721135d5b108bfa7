import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const libs = fileURLToPath(new URL('../libs/', import.meta.url));

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  resolve: {
    alias: [
      { find: /^#libs\/([^/]+)\/(domain|http)$/, replacement: `${libs}$1/src/$2/index.ts` },
      { find: /^#libs\/([^/]+)$/, replacement: `${libs}$1/src/index.ts` },
    ],
  },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{apps,libs}/**/*.spec.ts'],
          setupFiles: ['reflect-metadata'],
          // They share one process for each core, which loads a module once.
          isolate: false,
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: ['test/{integration,e2e,faults}/**/*spec.ts', 'libs/**/*.int-spec.ts'],
          setupFiles: ['test/support/setup.ts'],
        },
      },
    ],
    // Tests that start processes or tools are slow on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores carry PostgreSQL, Redis and the processes under test as well.
    maxWorkers: 2,
    reporters: ['default'],
  },
});
