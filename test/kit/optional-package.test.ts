import { expect, it } from 'vitest';
import { requireOptionalPackage } from '../../src/kit/optional-package.js';

it('optional packages: one that is not installed is named, with the command that installs it', () => {
  expect(() => {
    requireOptionalPackage('no-such-package-of-ours', 'The handler postgres');
  }).toThrow(
    expect.objectContaining({
      code: 'CF_CONFIG_INVALID',
      message:
        'The handler postgres needs the package "no-such-package-of-ours". Install it: npm install no-such-package-of-ours',
    }),
  );
});

it('optional packages: one that is installed is accepted', () => {
  expect(() => {
    requireOptionalPackage('pg', 'The handler postgres');
  }).not.toThrow();
});
