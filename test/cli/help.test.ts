import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cliPage, commandNames } from '../support/cli-page.js';

describe('docs/cli.md', () => {
  it('says what --help says (npx vitest run test/cli/help.test.ts -u writes it anew)', async () => {
    await expect(cliPage()).toMatchFileSnapshot('../../docs/cli.md');
  });

  it('has a section for every command', () => {
    const sections = [...cliPage().matchAll(/^## changefeed ([\w-]+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual([...commandNames].sort());
  });

  it('names the same commands as the README', () => {
    const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
    for (const name of commandNames) expect(readme).toContain(`changefeed ${name}`);
  });
});
