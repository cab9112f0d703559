import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { countText, demoSandbox } from '../../src/cli/commands/demo.js';

it.each(['README.md', 'README.ko.md'])('demo: %s shows the numbers that the demo prints', (page) => {
  const text = readFileSync(new URL(`../../${page}`, import.meta.url), 'utf8');
  expect(text).toContain(`a synthetic CRM with ${countText(demoSandbox({ seed: 1, people: 200 }))}, polled`);
});
