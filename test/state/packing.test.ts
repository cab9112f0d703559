import { describe, expect, it } from 'vitest';
import { packRecord, unpackRecord } from '../../src/state/packing.js';
import type { SweptRecordState } from '../../src/sweep/store.js';

const image = JSON.stringify({
  id: '0198f0aa-1c00-7a10-8f01-00000000a001',
  RecordId: '0198f0aa-1c00-7a10-8f01-00000000a001',
  이름: '가상인',
  담당자: { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
  '최근 작성된 노트': '2차 미팅\n요청',
  '수신 거부 사유': null,
  '수정 날짜': '2026-02-20T08:00:00.000Z',
});

// What a release once wrote, byte for byte. A fixture is never edited: a state on disk cannot be, either.
const VERSION_1 = `1kY3hZ0v9wq2JtXn5mB7dLg 4 ${image}`;
const VERSION_2 =
  'MotWyo40zogyKLMsLzTyKonIM811Mk/xSVfSMYHUm9XY2wPG+NoDkCJT1xBLuwDRBoCmZ7SWgCGkKQB1nYGhpUWaQWKirmGygYGueaKhga5FGqgtAgWJBgYgSxChQ6wOWGZSerWh4U1zIyg3oMQn1H7TJINUg2RTI7B2XRMQYQEiDBDAENFugOh3VKrFk7CVjN5sWKHwev2Otz2tMXlvZk15s2mtEoHCCjVaoRFgpGtkEGJggRwBtQA=';

describe('a stored record', () => {
  it('written as version 1 is read', () => {
    expect(unpackRecord(Buffer.from(VERSION_1))).toEqual({
      digest: 'kY3hZ0v9wq2JtXn5mB7dLg',
      sequence: 4,
      image,
      counted: false,
    });
  });

  it('written as version 2 is read', () => {
    expect(unpackRecord(Buffer.from(VERSION_2, 'base64'))).toEqual(state());
  });

  it.each<[string, SweptRecordState]>([
    ['with everything', { ...state(), earlier: ['a', 'b'], doubt: { content: 'c', sweep: 's', sightings: 2 } }],
    ['without an image', { digest: 'd', sequence: 0, image: null, fields: { 이름: '1 abc string' }, modifiedAt: null }],
    [
      'of a record that is gone',
      { digest: 'gone', sequence: 2, image: null, gone: { at: 'x', modifiedAt: null, content: 'y' } },
    ],
  ])('%s is what was packed', (_what, packed) => {
    expect(unpackRecord(packRecord(packed))).toEqual(packed);
  });

  it('is smaller than its JSON', () => {
    expect(packRecord(state()).length).toBeLessThan(Buffer.byteLength(image) / 1.5);
  });

  it.each(['3future', '1', '2not deflated'])('of another form is refused: %s', (text) => {
    expect(() => unpackRecord(Buffer.from(text))).toThrow(expect.objectContaining({ code: 'CF_STATE_UNREADABLE' }));
  });
});

function state(): SweptRecordState {
  return {
    digest: 'kY3hZ0v9wq2JtXn5mB7dLg',
    sequence: 4,
    image,
    decisions: [
      { at: '2026-03-01T00:00:00.000Z', sweep: 'people-1', what: 'edited', fields: ['이름'], event: 'evt_1' },
    ],
  };
}
