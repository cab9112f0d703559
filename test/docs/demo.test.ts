import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { demoSandbox, madeText } from '../../src/cli/commands/demo.js';

it.each([
  ['README.md', 'en'],
  ['README.ko.md', 'ko'],
] as const)('demo: %s shows the numbers that the demo prints', (page, language) => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  expect(text).toContain(madeText(demoSandbox({ seed: 1, people: 200 }), language));
});
