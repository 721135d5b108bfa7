import { defineConfig } from 'eslint/config';
import tseslint from 'typescript-eslint';

const DOMAIN_MAY_IMPORT = 'the domain imports itself, the kernel, node:crypto and @Injectable';
const ENVIRONMENT = 'only libs/runtime/src/config reads the environment, as process.env';
/**
 * V8 treats a function written as the value of a property as a method, and puts it into the old generation. If each
 * request creates one, everything that it refers to survives until the next full garbage collection.
 */
const FUNCTION_ON_OBJECT = {
  selector: 'AssignmentExpression[left.type="MemberExpression"][right.type=/Function/]',
  message: 'declare the function first and assign its name (see eslint.config.mjs)',
};

export default defineConfig(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', '.data/**'] },
  // Generated code, and programs that are compiled together with generated clients.
  { ignores: ['libs/client/src/api.generated.ts', 'test/release/clients/**'] },
  {
    files: ['**/*.ts', '**/*.tsx', '**/*.mjs'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: {
        project: ['tsconfig.json', 'apps/console/tsconfig.json'],
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      '@typescript-eslint/no-extraneous-class': ['error', { allowWithDecorator: true }],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/consistent-type-imports': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      // Frameworks take option objects where they declare classes of options.
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      'max-lines': ['error', { max: 250, skipBlankLines: true, skipComments: true }],
      'no-duplicate-imports': 'error',
      'no-restricted-properties': [
        'error',
        { object: 'process', property: 'env', message: ENVIRONMENT },
      ],
      // The rule above covers the global `process`; an imported one can have any name.
      'no-restricted-imports': [
        'error',
        {
          paths: [
            { name: 'node:process', message: ENVIRONMENT },
            { name: 'process', message: ENVIRONMENT },
          ],
        },
      ],
    },
  },
  {
    files: ['apps/**/*.ts', 'libs/**/*.ts'],
    ignores: [
      'libs/runtime/src/database/**',
      '**/infrastructure/*-schema.ts',
      'libs/webhooks/src/schema/**',
      '**/*spec.ts',
    ],
    rules: {
      'no-restricted-syntax': [
        'error',
        {
          selector:
            'CallExpression[callee.property.name="query"]:matches([callee.object.name=/^(manager|runner)$/], [callee.object.property.name="manager"])',
          message: 'SQL is a statement (#libs/runtime) that a Database or TypeOrmTransactions runs',
        },
        FUNCTION_ON_OBJECT,
      ],
    },
  },
  {
    files: ['libs/*/src/{,*/}domain/**/*.ts'],
    ignores: ['**/*spec.ts', '**/*.contract.ts'],
    rules: {
      'no-restricted-imports': [
        'error',
        {
          patterns: [
            {
              regex: '^@nestjs/common$',
              allowImportNames: ['Injectable', 'Inject'],
              message: DOMAIN_MAY_IMPORT,
            },
            { regex: '^(?!#libs/|\\.|node:crypto$|@nestjs/common$)', message: DOMAIN_MAY_IMPORT },
          ],
        },
      ],
      // no-restricted-imports checks only import statements.
      'no-restricted-syntax': [
        'error',
        { selector: 'ImportExpression, TSImportType', message: 'the domain imports by statement' },
        FUNCTION_ON_OBJECT,
      ],
    },
  },
  {
    files: ['libs/runtime/src/config/**/*.ts', 'test/**/*.ts'],
    rules: { 'no-restricted-properties': 'off' },
  },
  // Tests may be long.
  {
    files: ['test/**/*.ts', '**/*spec.ts'],
    rules: { 'max-lines': 'off' },
  },
  {
    files: ['**/*.mjs'],
    rules: {
      'no-restricted-properties': 'off',
      // The rule ignores type casts in comments.
      '@typescript-eslint/no-unsafe-assignment': 'off',
    },
  },
  { files: ['**/*.cjs'], extends: [tseslint.configs.eslintRecommended] },
);
