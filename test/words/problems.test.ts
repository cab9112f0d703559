import { describe, expect, it } from 'vitest';
import type { Held } from '../../src/feed/detect/held.js';
import { formatsFor } from '../../src/words/format.js';
import { problemText } from '../../src/words/problems.js';
import { en, ko } from '../../src/words/texts.js';
import {
  ALL,
  AT,
  EARLIER,
  failure,
  HEALTHY_REDIS,
  list,
  onePage,
  problemsWith,
  process,
  subscription,
} from '../support/statuses.js';

const style = { timeZone: 'Asia/Seoul', now: AT };
const [korean, english] = [formatsFor({ language: 'ko', ...style }), formatsFor({ language: 'en', ...style })];

const held = { count: 1_500, of: 5_023, since: AT, at: AT };
const CAUSES: Parameters<typeof problemsWith>[0][] = [
  { redis: { ...HEALTHY_REDIS, evictionPolicy: 'allkeys-lru', mayEvict: true } },
  { redis: { ...HEALTHY_REDIS, refuses: 'read-only', forbids: null } },
  { processes: [process(['poll'])] },
  { processes: [process(ALL.roles, { stalled: [{ loop: 'poll acme people', since: EARLIER }] })] },
  { processes: [process(ALL.roles, { failing: [{ loop: 'lost jobs', since: EARLIER, at: AT, error: 'WRONGTYPE' }] })] },
  { processes: [process(ALL.roles, { waiting: { lists: 900, forMs: 40_000 } })] },
  { processes: [process(ALL.roles, { clock: { apartMs: 12_000, stepped: { byMs: -7_200_000, agoMs: 20_000 } } })] },
  { lists: [list({ failure: { ...failure, shared: 'the API at crm.example did not answer (ECONNREFUSED)' } })] },
  { lists: [list({ failure: { ...failure, code: 'CF_UNAUTHORISED' } })] },
  { lists: [list({ failure: { ...failure, code: 'CF_SOURCE_CHANGED' } })] },
  { lists: [list({ failure })] },
  { lists: [list({ late: true, dueAt: EARLIER })] },
  { lists: [list({ silence: { kind: 'empty', since: EARLIER, longestPauseMs: 0 } })] },
  { lists: [list({ lastSweep: onePage(50) })] },
  { lists: [list({ held: [{ ...held, what: 'removals', why: 'creations' }] })] },
  { subscriptions: [subscription({ paused: { at: EARLIER, reason: 'It answered 410.', missing: true } })] },
  {
    subscriptions: [
      subscription({
        failingSince: EARLIER,
        failures: 4,
        lastError: { workspace: 'acme', message: 'It answered 500.' },
      }),
    ],
  },
  { subscriptions: [subscription({ unreadable: 'WRONGTYPE' })] },
  { subscriptions: [subscription({ lateSince: EARLIER, lagEvents: 3, waiting: 3 })] },
  { subscriptions: [subscription({ dead: 2 })] },
  { unconfigured: [{ subscription: 'billing', waiting: 4, dead: 2, unread: false }] },
  { unconfigured: [{ subscription: 'billing', waiting: 0, dead: 0, unread: true }] },
  ...[true, false].map((run) => {
    const rulesMissing = { rules: 12, since: EARLIER, file: 'changefeed.rules.json', run };
    return { processes: [process(ALL.roles, { rulesMissing })] };
  }),
  ...['configuration', 'rules'].map((what) => {
    return { processes: [process(ALL.roles, { refused: [{ what, since: EARLIER, error: 'the file is not valid' }] })] };
  }),
];

describe('words: problems', () => {
  it('each has a text in both languages, with every name and number that the English one has', () => {
    const found = CAUSES.flatMap(problemsWith);
    for (const problem of found) {
      const [inKorean, inEnglish] = [problemText(problem, korean), problemText(problem, english)];
      expect(inKorean).toMatch(/[가-힣]/);
      for (const text of [inKorean, inEnglish, problem.message]) expect(text).not.toMatch(/[{}]|undefined|^$/);
    }
    expect(found.map((problem) => problemText(problem, korean))).toMatchSnapshot();
  });

  it.each<[Held, string]>([
    [
      { ...held, what: 'removals', why: 'too many' },
      '5,023건 중 1,500건이 한꺼번에 사라져 삭제 이벤트를 보류했습니다.',
    ],
    [
      { ...held, what: 'creations', why: 'replaced', known: { seen: 3, of: 200 } },
      '5,023건 중 1,500건이 새로 나타나 생성 이벤트를 보류했습니다. 전에 있던 200건 중 3건만 보입니다.',
    ],
  ])('in Korean, held records have their list, numbers and command', (one, text) => {
    const [problem] = problemsWith({ lists: [list({ held: [one] })] });
    const said = problemText(problem!, korean);
    expect(said).toContain(`워크스페이스 "acme", 고객 목록: ${text}`);
    expect(said).toContain('changefeed accept people --workspace acme');
  });

  it('without facts it has its English message', () => {
    expect(problemText({ kind: 'list.late', message: 'A sweep is due.' }, korean)).toBe('A sweep is due.');
  });

  it('a text in Korean names nothing that the English one does not', () => {
    const names = (text: string): string[] => [...text.matchAll(/\{>?(\w+)/g)].map(([, name = '']) => name);
    const known = new Set(['listName', 'title', 'why', 'code', 'workspace', 'list', 'error']);
    for (const [key, text] of Object.entries(ko))
      expect(
        names(text).filter((name) => !known.has(name) && !names(en[key as keyof typeof en]).includes(name)),
        key,
      ).toEqual([]);
  });
});
