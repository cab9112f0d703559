/** Runs `detect` for one record of the list `people` and its stored record. For the tests of `src/feed/detect`. */
import { detect, recordAfter, type DetectInput, type Detection } from '../../src/feed/detect/detect.js';
import type { StoredRecord } from '../../src/feed/detect/stored-record.js';
import type { UncheckedRecord } from '../../src/crm/record.js';
import { compileRules } from '../../src/feed/detect/rules.js';

export const observation = {
  workspace: 'acme',
  sweep: 'people-2',
  observedAt: '2026-03-01T12:00:00.000Z',
};

/** A record whose modifiedAt is 10:`minute`:05. It has seconds, so it is not taken for a time cut to the minute. */
export function personAt(minute: number, fields: UncheckedRecord = {}): UncheckedRecord {
  return {
    id: 'p1',
    이름: '김민수',
    ...fields,
    '수정 날짜': `2026-03-01T10:${String(minute).padStart(2, '0')}:05.000Z`,
  };
}

export interface DetectCase extends Partial<Omit<DetectInput, 'observation'>> {
  record: UncheckedRecord;
  observation?: Partial<DetectInput['observation']>;
}

export function inputOf({ observation: seen, ...given }: DetectCase): DetectInput {
  return {
    key: 'p1',
    stored: null,
    baseline: null,
    rules: compileRules('people'),
    ...given,
    observation: { ...observation, ...seen },
  };
}

export function runCase(given: DetectCase): { detection: Detection; next: StoredRecord } {
  const input = inputOf(given);
  const detection = detect(input);
  return { detection, next: recordAfter(input, detection) };
}
