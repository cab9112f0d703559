/** The Markdown pages of the project, their headings, links and code blocks. */
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export const ROOT = fileURLToPath(new URL('../../', import.meta.url));

export function pages(): string[] {
  const inDocs = readdirSync(`${ROOT}docs`, { recursive: true, encoding: 'utf8' }).map((path) => `docs/${path}`);
  return [...readdirSync(ROOT), 'examples/README.md', ...inDocs].filter((path) => path.endsWith('.md')).sort();
}

export function readPage(path: string): string {
  return readFileSync(ROOT + path, 'utf8');
}

/** The anchors that GitHub gives to the headings of a page; a repeated heading gets a number. */
export function anchorsOf(text: string): Set<string> {
  const seen = new Map<string, number>();
  const headings = [...withoutCode(text).matchAll(/^#{1,6} +(.+)$/gm)].map(([, title = '']) => anchorOf(title));
  return new Set(
    headings.map((anchor) => {
      const times = seen.get(anchor) ?? 0;
      seen.set(anchor, times + 1);
      return times === 0 ? anchor : `${anchor}-${times}`;
    }),
  );
}

function anchorOf(title: string): string {
  const words = title.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return words.replace(/[^\p{L}\p{N}\p{M} _-]/gu, '').replaceAll(' ', '-');
}

export function headingLevelsOf(text: string): number[] {
  return [...withoutCode(text).matchAll(/^(#{1,6}) /gm)].map(([, marks = '']) => marks.length);
}

export interface Link {
  /** Without the anchor; empty for the page itself. */
  path: string;
  anchor: string | undefined;
}

export function linksOf(text: string): Link[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target)
    .filter((target) => !/^[a-z]+:/i.test(target))
    .map((target) => {
      const [path = '', anchor] = target.split('#');
      return { path: decodeURIComponent(path), anchor };
    });
}

function withoutCode(text: string): string {
  return text.replace(/^ *```[^]*?^ *```/gm, '').replace(/`[^`\n]*`(?!\])/g, (code) => code.replace(/[[\]()]/g, ''));
}

export interface CodeBlock {
  page: string;
  language: string;
  /** From a first line such as `// receiver.mjs`; undefined without one. */
  file: string | undefined;
  code: string;
}

export function codeBlocksOf(page: string): CodeBlock[] {
  return [...readPage(page).matchAll(/^( *)```(\w+)\n([^]*?)^\1```/gm)].map(
    ([, indent = '', language = '', text = '']) => {
      const code = text.replace(new RegExp(`^${indent}`, 'gm'), '');
      const file = /^(?:\/\/|#|--) ([\w./-]+\.\w+)\n/.exec(code)?.[1];
      return { page, language, file, code };
    },
  );
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
  return [line(head), `|${head.map(() => '---').join('|')}|`, ...rows.map(line)].join('\n');
}
