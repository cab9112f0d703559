import { existsSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { anchorsOf, linksOf, pages, readPage, ROOT } from '../../.ci/docs/markdown.js';

/** The links of a page that lead to nothing. */
function deadLinks(page: string, text = readPage(page)): string[] {
  return linksOf(text).flatMap(({ path, anchor }) => {
    const target = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, target))) return [`${path}: no such file`];
    if (anchor === undefined || !target.endsWith('.md')) return [];
    const content = target === page ? text : readPage(target);
    return anchorsOf(content).has(anchor) ? [] : [`${path}#${anchor}: no such heading`];
  });
}

describe('documentation links', () => {
  it.each(pages())('documentation links: those of %s lead to a file and a heading', (page) => {
    expect(deadLinks(page)).toEqual([]);
  });

  it('documentation links: a dead one is found (control)', () => {
    const text =
      '# A page\n\n[one](none.md) [two](#a-page) [three](#another) [four](../README.md#guarantees) `[no](link.md)`';
    expect(deadLinks('docs/index.md', text)).toEqual(['none.md: no such file', '#another: no such heading']);
  });

  it('documentation links: every page is reachable from docs/index.md', () => {
    const reached = new Set<string>();
    const visit = (page: string): void => {
      if (reached.has(page)) return;
      reached.add(page);
      for (const { path } of linksOf(readPage(page))) {
        if (path.endsWith('.md')) visit(normalize(join(dirname(page), path)));
      }
    };
    visit('docs/index.md');
    expect(pages().filter((page) => !reached.has(page))).toEqual([]);
  });
});
