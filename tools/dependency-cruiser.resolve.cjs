const { resolve } = require('node:path');

/** Where `#libs/…` is written, not the built file that package.json names: that one is excluded. */
module.exports = {
  resolve: {
    alias: {
      '#libs/http': resolve('libs/http/src/index.ts'),
      '#libs/runtime/cluster': resolve('libs/runtime/src/cluster/index.ts'),
      '#libs/runtime/config': resolve('libs/runtime/src/config/index.ts'),
      '#libs/*/domain': resolve('libs/*/src/domain/index.ts'),
      '#libs/*/http': resolve('libs/*/src/http/index.ts'),
      '#libs/*': resolve('libs/*/src/index.ts'),
    },
  },
};
