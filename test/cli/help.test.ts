import { describe, expect, it } from 'vitest';
import { cliPage, commandNames } from '../support/cli-page.js';
import { cliSchema } from '../support/cli-schema.js';

describe('command line page', () => {
  it('command line page: shows the output of --help (npx vitest run test/cli/help.test.ts -u updates it)', async () => {
    await expect(cliPage()).toMatchFileSnapshot('../../docs/cli.md');
    await expect(cliSchema()).toMatchFileSnapshot('../../docs/cli.schema.json');
  });

  it('command line page: has a section for every command', () => {
    const sections = [...cliPage().matchAll(/^## changefeed ([\w-]+)$/gm)].map(([, name]) => name);
    expect(sections.sort()).toEqual([...commandNames].sort());
  });
});
