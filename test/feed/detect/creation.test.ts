import { describe, expect, it } from 'vitest';
import {
  DEFAULT_CREATIONS,
  isCleared,
  isHeld,
  isStrange,
  isSuspicious,
  type CreationRules,
} from '../../../src/feed/detect/creation.js';
import type { BuiltInList } from '../../../src/crm/lists/lists.js';

type Page = readonly [known: number, fresh: number];

interface Walk {
  before: number;
  pages: readonly Page[];
  list?: BuiltInList;
  rules?: CreationRules;
  allowed?: number;
  /** What may pass was accepted of a list that still had its records. */
  ours?: true;
}

function outcome({ before, pages, list = 'people', rules = DEFAULT_CREATIONS, allowed = 0, ours }: Walk) {
  const passes = { allowed, ...(ours && { ours }) };
  const guard = { list, rules, before };
  const counts = (page: number) => {
    const shown = pages.slice(0, page);
    const fresh = shown.reduce((sum, [, one]) => sum + one, 0);
    const known = shown.reduce((sum, [one]) => sum + one, 0);
    const seen = known + fresh;
    return { seen, fresh, allowed, isStrange: isStrange({ seen, known }, guard) };
  };
  const numbers = pages.map((_, index) => index + 1);
  const surveyedAt = numbers.find((page) => isSuspicious(counts(page), guard, passes)) ?? null;
  if (surveyedAt === null) return { surveyedAt, read: 0, held: false };
  const read = numbers.find((page) => page >= surveyedAt && isCleared(counts(page), guard)) ?? pages.length;
  return { surveyedAt, read, held: isHeld(counts(read), guard, passes) };
}

const times = (count: number, page: Page): Page[] => Array.from({ length: count }, () => page);

describe('creations: an import', () => {
  it.each<[string, Walk]>([
    ['of 30 into a list of 20, all on one page', { before: 20, pages: [[20, 30]] }],
    ['of a few records on the first page', { before: 5_000, pages: [[45, 5], ...times(99, [50, 0])] }],
    ['of 60 spread over a list of 500', { before: 500, pages: times(10, [44, 6]) }],
    ['of 100 into an empty list', { before: 0, pages: times(2, [0, 50]) }],
    [
      'that a person has accepted',
      {
        before: 20,
        pages: [
          [0, 150],
          [20, 0],
        ],
        allowed: 165,
      },
    ],
  ])('%s needs no survey', (_what, walk) => {
    expect(outcome(walk).surveyedAt).toBeNull();
  });

  it.each<[string, Walk, surveyedAt: number, read: number]>([
    ['of 60 at the front of a list of 500', { before: 500, pages: [[0, 50], [40, 10], ...times(9, [50, 0])] }, 1, 3],
    [
      'of 3,000 at the end of 5,000',
      { before: 5_000, pages: [...times(100, [50, 0]), ...times(60, [0, 50])] },
      151,
      151,
    ],
  ])('%s is surveyed as far as needed, and passes', (_what, walk, surveyedAt, read) => {
    expect(outcome(walk)).toEqual({ surveyedAt, read, held: false });
  });

  it('that a person has accepted lets no records of another list pass', () => {
    const strangers = { before: 20, pages: [[0, 30]] as Page[], allowed: 165 };
    expect(outcome(strangers).surveyedAt).toBeNull();
    expect(outcome({ ...strangers, ours: true })).toEqual({ surveyedAt: 1, read: 1, held: true });
    expect(
      outcome({
        ...strangers,
        pages: [
          [0, 150],
          [20, 0],
        ],
        ours: true,
      }),
    ).toMatchObject({ held: false });
  });
});

it('creations: a replaced list of fewer than ten records is not known well enough', () => {
  expect(outcome({ before: 9, pages: [[0, 9]] }).surveyedAt).toBeNull();
});

const weekend: Page[] = [...times(18, [0, 50]), ...times(4, [50, 0])];

it('creations: a list that only grows may gain any number of rows while its known rows are still there', () => {
  expect(outcome({ list: 'history', before: 200, pages: weekend })).toMatchObject({ read: 22, held: false });
});
