import tseslint from 'typescript-eslint';

// The limits of the house: a file is one idea, a function fits on a screen, time is an argument.
const clockRule = 'Time comes from kit/clock.ts, so that it can be an argument and a test can hold it.';

export default tseslint.config(
  { ignores: ['dist', 'dist-bench', 'coverage', 'reports', 'node_modules', '.changefeed'] },
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: {
          allowDefaultProject: ['eslint.config.js', '.ci/*.mjs', '.dependency-cruiser.cjs'],
        },
      },
    },
    rules: {
      // A symptom, not a goal: a longer file probably holds two ideas.
      'max-lines': ['error', { max: 400 }],
      'max-lines-per-function': ['error', { max: 60, skipBlankLines: true, skipComments: true }],
      'no-restricted-globals': [
        'error',
        { name: 'setTimeout', message: clockRule },
        { name: 'setInterval', message: clockRule },
      ],
      'no-restricted-properties': ['error', { object: 'Date', property: 'now', message: clockRule }],
      'no-restricted-syntax': ['error', { selector: 'ExportAllDeclaration', message: 'Name what is exported.' }],
      'no-console': 'error',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      '@typescript-eslint/unified-signatures': 'off',
      // Gives the type of a schema the name that an editor shows.
      '@typescript-eslint/no-empty-object-type': ['error', { allowInterfaces: 'with-single-extends' }],
      // A third of the time of a run, and nothing to find: there are no enums, and classes are told apart by their private fields.
      '@typescript-eslint/no-unsafe-enum-assignment': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
    },
  },
  { files: ['src/kit/**'], rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' } },
  {
    files: ['test/**', 'bench/**'],
    rules: {
      'max-lines-per-function': 'off',
      'no-restricted-properties': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-deprecated': 'off',
    },
  },
  { files: ['bench/**', 'examples/**'], rules: { 'no-console': 'off' } },
  // They are programs of others.
  { files: ['examples/**'], rules: { 'no-restricted-properties': 'off' } },
  // In a browser: its timers are the only ones, and the markup of a component counts as lines.
  {
    files: ['page/**'],
    rules: { 'no-restricted-globals': 'off', 'max-lines-per-function': ['error', { max: 100, skipBlankLines: true }] },
  },
  { files: ['test/support/**'], rules: { 'no-restricted-globals': 'off' } },
  { files: ['**/*.js', '**/*.mjs', '**/*.cjs'], extends: [tseslint.configs.disableTypeChecked] },
);
