import { expect, it } from 'vitest';
import { formatsFor } from '../../src/words/format.js';
import { problemText } from '../../src/words/problems.js';
import { en, ko } from '../../src/words/texts.js';

it('words: a problem without facts has its English message', () => {
  const formats = formatsFor({ language: 'ko', now: '2026-03-01T09:10:00.000Z' });
  expect(problemText({ kind: 'list.late', message: 'A sweep is due.' }, formats)).toBe('A sweep is due.');
});

it('words: a text in Korean names nothing that the English one does not', () => {
  const names = (text: string): string[] => [...text.matchAll(/\{>?(\w+)/g)].map(([, name = '']) => name);
  const known = new Set(['listName', 'title', 'why', 'code', 'workspace', 'list', 'error']);
  for (const [key, text] of Object.entries(ko))
    expect(
      names(text).filter((name) => !known.has(name) && !names(en[key as keyof typeof en]).includes(name)),
      key,
    ).toEqual([]);
});
