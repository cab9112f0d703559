/** Runs that once went wrong, each as small as it could be made: what was found, and the scenario that found it. */
import type { Scenario, Step } from './scenario.js';

/** A calm list, and a configuration by default. */
const CALM: Omit<Scenario, 'list' | 'steps'> = {
  withoutIds: false,
  seed: 0,
  size: 2,
  shown: { pageSize: 1 },
  mishaps: {},
  churn: 0,
  attempts: 1,
  config: {
    rules: 'none',
    images: true,
    baseline: 'quiet',
    removals: { confirm: 2, maxShare: 0.2, maxCount: 10 },
    creations: { maxShare: 0.5, maxCount: 100 },
  },
};

const SWEEP: Step = { do: 'sweep', doom: null, meanwhile: [], rival: null };

export const REGRESSIONS: readonly { found: string; scenario: Scenario }[] = [
  {
    found: 'a page that the Redis client sent twice took effect twice',
    scenario: {
      ...CALM,
      list: 'organization',
      steps: [{ do: 'sweep', doom: { at: 16, blow: 'sent-twice' }, meanwhile: [], rival: null }],
    },
  },
  {
    found: 'a record shown only by a sweep that was given up was never missed',
    scenario: {
      ...CALM,
      list: 'todo',
      seed: 79274,
      size: 7,
      shown: { pageSize: 1, cursor: 'single-use', cursorOfGoneRecord: 'bad' },
      mishaps: { 'cursor-row-deleted': 0.03 },
      steps: [{ do: 'sweep', doom: { at: 23, blow: 'stalls-before' }, meanwhile: [], rival: null }, SWEEP],
    },
  },
  {
    found: 'a change of the schema was told row by row where a short list says "nothing" in two ways',
    scenario: {
      ...CALM,
      list: 'memo',
      size: 14,
      shown: { pageSize: 1, empties: 'mixed' },
      steps: [SWEEP, { do: 'drift', how: 'reshaped' }, SWEEP, SWEEP],
    },
  },
  {
    found: 'a change of the schema was told row by row where a resumed sweep had met it on its last few rows',
    scenario: {
      ...CALM,
      list: 'memo',
      size: 14,
      shown: { pageSize: 5 },
      steps: [
        SWEEP,
        {
          do: 'sweep',
          doom: { at: 1, blow: 'stalls-before' },
          meanwhile: [],
          rival: { at: 10, blow: 'dies-after' },
        },
        { do: 'drift', how: 'added' },
      ],
    },
  },
  {
    found: 'a process that had been overtaken accused the API of a cursor loop',
    scenario: {
      ...CALM,
      list: 'people',
      seed: 44683,
      size: 14,
      mishaps: { 'rate-limited': 0.3 },
      attempts: 3,
      steps: [
        SWEEP,
        SWEEP,
        SWEEP,
        {
          do: 'sweep',
          doom: { at: 3, blow: 'stalls-before' },
          meanwhile: [],
          rival: { at: 14, blow: 'stalls-after' },
        },
      ],
    },
  },
];
