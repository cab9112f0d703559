import { describe, expect, it } from 'vitest';
import { creationTimeOf, modifiedAtOf } from '../../../src/feed/detect/fields.js';

const time = '2026-03-01T10:00:00.000Z';
const other = '2026-03-02T10:00:00.000Z';

describe("a record's own times", () => {
  it('are found under every name that real bodies use, in either composition', () => {
    for (const name of ['수정 날짜', 'updatedAt', '수정 날짜'.normalize('NFD')])
      expect(modifiedAtOf({ [name]: time })).toBe(time);
    for (const name of ['생성 날짜', 'createdAt', 'date']) expect(creationTimeOf({ [name]: time })).toBe(time);
  });

  it('prefer the documented name, and use the next when that is empty', () => {
    expect(modifiedAtOf({ updatedAt: other, '수정 날짜': time })).toBe(time);
    expect(creationTimeOf({ date: other, createdAt: time })).toBe(time);
    for (const nothing of [null, '', 7, undefined])
      expect(modifiedAtOf({ '수정 날짜': nothing, updatedAt: time })).toBe(time);
  });

  it('are null where no name holds a text', () => {
    expect([modifiedAtOf({ date: time }), creationTimeOf({ updatedAt: time }), modifiedAtOf({ updatedAt: 1 })]).toEqual(
      [null, null, null],
    );
  });
});
