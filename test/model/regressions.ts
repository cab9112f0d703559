/** Runs that failed in the past, each shrunk: what went wrong, and the scenario that showed it. */
import type { Scenario, Step } from './scenario.js';

const CALM: Omit<Scenario, 'list' | 'steps'> = {
  withoutIds: false,
  seed: 0,
  size: 2,
  rendering: { pageSize: 1 },
  apiFaults: {},
  churn: 0,
  attempts: 1,
  shortcuts: null,
  config: {
    rules: 'none',
    baseline: 'quiet',
    removals: { confirm: 2, afterMs: 0, maxShare: 0.2, maxCount: 10 },
    creations: { maxShare: 0.5, maxCount: 100 },
  },
};

const SWEEP: Step = { do: 'sweep', fault: null, meanwhile: [], takeoverFault: null };

export const REGRESSIONS: readonly { found: string; scenario: Scenario }[] = [
  {
    found: 'a page that the Redis client sent twice was committed twice',
    scenario: {
      ...CALM,
      list: 'organization',
      steps: [{ do: 'sweep', fault: { at: 16, kind: 'sent-twice' }, meanwhile: [], takeoverFault: null }],
    },
  },
  {
    found: 'the removal of a record that only an abandoned sweep had seen was not reported',
    scenario: {
      ...CALM,
      list: 'todo',
      seed: 79274,
      size: 7,
      rendering: { pageSize: 1, cursor: 'single-use', cursorOfGoneRecord: 'bad' },
      apiFaults: { 'cursor-row-deleted': 0.03 },
      steps: [{ do: 'sweep', fault: { at: 23, kind: 'stalls-before' }, meanwhile: [], takeoverFault: null }, SWEEP],
    },
  },
  {
    found: 'a schema change was reported row by row in a short list with two kinds of empty values',
    scenario: {
      ...CALM,
      list: 'memo',
      size: 14,
      rendering: { pageSize: 1, empties: 'mixed' },
      steps: [SWEEP, { do: 'drift', how: 'reshaped' }, SWEEP, SWEEP],
    },
  },
  {
    found: 'a schema change was reported row by row after a resumed sweep had seen it on its last few rows',
    scenario: {
      ...CALM,
      list: 'memo',
      size: 14,
      rendering: { pageSize: 5 },
      steps: [
        SWEEP,
        {
          do: 'sweep',
          fault: { at: 1, kind: 'stalls-before' },
          meanwhile: [],
          takeoverFault: { at: 10, kind: 'dies-after' },
        },
        { do: 'drift', how: 'added' },
      ],
    },
  },
  {
    found: 'a process whose sweep another one had finished reported a cursor loop of the API',
    scenario: {
      ...CALM,
      list: 'people',
      seed: 44683,
      size: 14,
      apiFaults: { 'rate-limited': 0.3 },
      attempts: 3,
      steps: [
        SWEEP,
        SWEEP,
        SWEEP,
        {
          do: 'sweep',
          fault: { at: 3, kind: 'stalls-before' },
          meanwhile: [],
          takeoverFault: { at: 14, kind: 'stalls-after' },
        },
      ],
    },
  },
  {
    found: 'a sweep that was cut off by a resync before its last commit counted towards the confirmation of a removal',
    scenario: {
      ...CALM,
      list: 'todo',
      seed: 80891,
      size: 8,
      rendering: { pageSize: 3, cursor: 'last-id', cursorOfGoneRecord: 'good', order: 'creation' },
      churn: 2,
      steps: [
        SWEEP,
        SWEEP,
        { do: 'live', acts: ['create-todo'] },
        { do: 'live', acts: ['merge-people'] },
        {
          do: 'sweep',
          fault: { at: 20, kind: 'stalls-before' },
          meanwhile: ['delete-todo', 'edit-todo'],
          takeoverFault: { at: 36, kind: 'fails-before' },
        },
        { do: 'resync' },
        { do: 'live', acts: ['reopen-todo', 'merge-people', 'delete-todo'] },
      ],
    },
  },
  {
    found:
      'a removal was never reported after a process had died between the last page and the summary of the sweep that missed it',
    scenario: {
      ...CALM,
      list: 'todo',
      seed: 91888,
      rendering: { pageSize: 5 },
      steps: [
        SWEEP,
        { do: 'wait', ms: 7_200_000 },
        { do: 'live', acts: ['delete-todo'] },
        { ...SWEEP, fault: { at: 23, kind: 'dies-before' } },
      ],
    },
  },
  {
    found: 'a schema change was reported row by row after a sweep that had reported it was not resumed',
    scenario: {
      ...CALM,
      list: 'todo',
      size: 14,
      rendering: { pageSize: 3 },
      shortcuts: { latencyMs: 0, named: 'at once' },
      steps: [
        SWEEP,
        { do: 'drift', how: 'added' },
        { do: 'wait', ms: 1_000 },
        { ...SWEEP, fault: { at: 70, kind: 'dies-after' } },
      ],
    },
  },
  {
    found:
      'a schema change was reported row by row after the sweep that had reported it, and the next one before its first commit, were stopped',
    scenario: {
      ...CALM,
      list: 'todo',
      size: 14,
      rendering: { pageSize: 3 },
      steps: [
        SWEEP,
        { do: 'drift', how: 'reshaped' },
        { do: 'wait', ms: 1_000 },
        { ...SWEEP, fault: { at: 54, kind: 'dies-after' } },
        { do: 'wait', ms: 7_200_000 },
        { ...SWEEP, fault: { at: 12, kind: 'dies-after' } },
      ],
    },
  },
];
