import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';

/** Files that take longest. */
const SLOWEST = [
  '/e2e/stores-away.',
  '/browser/every-page.',
  '/e2e/delivery-isolation.',
  '/browser/deliveries.',
  '/e2e/replay.',
];

/** Runs the slowest files first, so that no core is idle at the end. On a fresh clone, Vitest goes by size. */
class SlowestFirst extends BaseSequencer {
  /** @override @param {import('vitest/node').TestSpecification[]} files */
  async sort(files) {
    const sorted = await super.sort(files);
    const slowest = SLOWEST.flatMap((part) =>
      sorted.filter(({ moduleId }) => moduleId.includes(part)),
    );
    return [...new Set([...slowest, ...sorted])];
  }
}

export default defineConfig({
  root: fileURLToPath(new URL('..', import.meta.url)),
  // Without Vite's "module", which is for bundlers: Node.js cannot load what some packages export by it.
  ssr: { resolve: { conditions: ['node', 'development|production'] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'unit',
          include: ['{apps,libs,test/bench,test/model}/**/*.spec.ts'],
          setupFiles: ['reflect-metadata'],
        },
      },
      {
        extends: true,
        test: {
          name: 'system',
          include: [
            'test/{integration,e2e,browser,faults,fuzz}/**/*spec.ts',
            'libs/**/*.int-spec.ts',
          ],
          setupFiles: ['test/support/setup.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'hostile',
          include: ['test/hostile/*.e2e-spec.ts'],
          setupFiles: ['test/support/setup.ts'],
          globalSetup: ['test/support/global-setup.ts'],
        },
      },
      {
        extends: true,
        test: {
          name: 'release',
          include: ['test/release/*.spec.ts'],
          setupFiles: ['test/support/setup.ts'],
        },
      },
      {
        extends: true,
        test: { name: 'containers', include: ['test/containers/*.spec.ts'] },
      },
      {
        extends: true,
        test: {
          name: 'pictures',
          include: ['test/pictures/*.spec.ts'],
          setupFiles: ['test/support/setup.ts'],
        },
      },
    ],
    // Of `npm run test:coverage`; files that no test loads count, too.
    coverage: {
      include: ['{apps,libs}/*/src/**/*.{ts,tsx}'],
      exclude: ['**/*spec.ts', '**/*.{fake,contract}.ts', '**/*.generated.ts'],
      reporter: ['text-summary', 'html'],
    },
    // Tests that start processes or tools are slow on a busy machine.
    testTimeout: 180_000,
    hookTimeout: 180_000,
    sequence: { sequencer: SlowestFirst },
    // Many tests wait for timeouts, so four keep two cores busy, with PostgreSQL, Redis and the processes
    // under test.
    maxWorkers: 4,
    // All files of a project share one process for each worker, which loads a module once.
    isolate: false,
    reporters: ['default'],
  },
});
