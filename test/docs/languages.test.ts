/** The pages in docs/ko have the headings and the code of the English pages of the same path. */
import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { headingLevelsOf, readPage, ROOT } from '../../.ci/docs/markdown.js';

const translated = readdirSync(`${ROOT}docs/ko`, { recursive: true, encoding: 'utf8' }).filter((path) =>
  path.endsWith('.md'),
);

/** Comments and what a command prints may be translated; everything else of a block is the same. */
function codeOf(text: string): string[] {
  return [...text.matchAll(/^ *```[^]*?^ *```/gm)].map(([block]) => {
    const plain = block.replace(/^ +/gm, '');
    if (!plain.startsWith('```console')) return plain.replace(/^(?:\/\/|#) (?![\w.-]+\.\w+$).*$/gm, '//');
    return plain.replace(/(?<!\\)\n(?!\$|```).+/g, '\nprinted');
  });
}

const shapeOf = (text: string) => ({ headings: headingLevelsOf(text), code: codeOf(text) });

describe('languages', () => {
  it('languages: the way from README.ko.md to a first event is translated', () => {
    expect(translated.sort()).toEqual([
      'getting-started.md',
      'guides/assistant.md',
      'guides/automation.md',
      'guides/chat.md',
      'guides/history.md',
      'guides/receivers.md',
      'guides/rules.md',
      'guides/todos.md',
      'guides/unchanged.md',
      'guides/verify.md',
      'guides/webhook.md',
    ]);
  });

  it.each([...translated, '../../README.ko.md'])(
    'languages: %s has the headings and the code of the English page',
    (path) => {
      const english = path.startsWith('..') ? 'README.md' : `docs/${path}`;
      const korean = path.startsWith('..') ? 'README.ko.md' : `docs/ko/${path}`;
      expect(shapeOf(readPage(korean))).toEqual(shapeOf(readPage(english)));
    },
  );

  it('languages: another option, a missing heading and a missing block are noticed (control)', () => {
    const page = readPage('docs/guides/webhook.md');
    const same = page.replace('// In a real system', '// 실제 시스템에서는');
    expect(shapeOf(same)).toEqual(shapeOf(page));
    for (const other of [
      page.replace('"class": "edited"', '"class": "refreshed"'),
      page.replace('## The receiver', 'The receiver'),
      page.replace(/```console[^]*?```/, ''),
      page.replace('$ npx changefeed resume', '$ npx changefeed pause'),
    ])
      expect(shapeOf(other)).not.toEqual(shapeOf(page));
  });
});
