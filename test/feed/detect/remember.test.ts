import { describe, expect, it } from 'vitest';
import type { StoredRecord } from '../../../src/feed/detect/stored-record.js';
import { deletedRecord } from '../../../src/feed/detect/removal.js';
import { compileRules } from '../../../src/feed/detect/rules.js';
import { runCase, observation, personAt } from '../../support/detect-case.js';

const rules = () => compileRules('people');
const { observedAt: at, sweep } = observation;
const known = (given: Partial<StoredRecord> = {}): StoredRecord => ({ sequence: 4, record: personAt(5), ...given });

describe('stored record: after a decision', () => {
  it('names 100 of very many changed fields and counts the others', () => {
    const many = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`field ${String(n).padStart(4, '0')}`, n]),
    );
    const [decision] = runCase({ stored: known(), record: personAt(6, many) }).next.decisions ?? [];
    expect(decision).toMatchObject({ what: 'edited', furtherFields: 900 });
    expect(decision?.fields).toHaveLength(100);
  });
});

describe('stored record: after a removal', () => {
  const step = { at, sweep, event: 'evt_9' };

  it('holds sequence and modifiedAt, and no content', () => {
    const trail = [{ at: '2026-01-01T00:00:00.000Z', sweep: 's', what: 'created', event: 'evt_1' }] as const;
    expect(deletedRecord(known({ decisions: trail }), { ...step, sequence: 5 }, rules())).toStrictEqual({
      sequence: 5,
      record: null,
      gone: { at, modifiedAt: '2026-03-01T10:05:05.000Z' },
      decisions: [...trail, { ...step, what: 'deleted' }],
    });
  });
});
