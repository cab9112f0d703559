import { describe, expect, it } from 'vitest';
import type { Baseline } from '../../../src/feed/detect/detect.js';
import { runCase } from '../../support/detect-case.js';

const since = '2026-03-01T10:00:00.000Z';
const taken = (record: Record<string, unknown>, baseline: Baseline = { since }) => {
  const { kind, sequence, event } = runCase({ record, baseline }).detection;
  return [kind, sequence, event?.type, event?.time, event?.data.detectedBy];
};

describe('baseline: since a time', () => {
  it('reports records created then or later', () => {
    const record = { id: 'p1', '생성 날짜': since };
    expect(taken(record)).toEqual(['baselined', 1, 'crm.person.created', since, 'content']);
    const { data } = runCase({ record, baseline: { since } }).detection.event!;
    expect([data.before, data.after, data.changes]).toEqual([null, record, []]);
  });

  it('reports records changed then or later, at their modifiedAt', () => {
    const record = { id: 'p1', '생성 날짜': '2026-03-01T09:59:59.999Z', '수정 날짜': '2026-03-01T19:00:00.000+09:00' };
    expect(taken(record)).toEqual(['baselined', 1, 'crm.person.updated', since, 'timestamp']);
    const { data } = runCase({ record, baseline: { since } }).detection.event!;
    expect([data.before, data.after, data.changes, data.class]).toEqual([null, record, [], 'edited']);
  });

  it.each([
    ['nor changed since', { '생성 날짜': '2026-03-01T09:59:59.999Z', '수정 날짜': '2026-03-01T09:59:59.999Z' }],
    ['and that carry no times', {}],
    ['and whose times are none', { '생성 날짜': 'yesterday', '수정 날짜': 'today' }],
  ])('is silent about records that were neither created %s', (_what, times) => {
    expect(runCase({ record: { id: 'p1', ...times }, baseline: { since } }).detection).toEqual({
      kind: 'baselined',
      sequence: 0,
      event: null,
    });
  });
});
