import { describe, expect, it } from 'vitest';
import { packRecord, unpackRecord } from '../../src/state/packing.js';
import type { SerialisedRecord } from '../../src/sweep/store.js';

const image = JSON.stringify({
  id: '0198f0aa-1c00-7a10-8f01-00000000a001',
  RecordId: '0198f0aa-1c00-7a10-8f01-00000000a001',
  이름: '가상인',
  담당자: { id: '5b0e0c52-0000-4000-8000-000000000001', name: '담당A' },
  '최근 작성된 노트': '2차 미팅\n요청',
  '수신 거부 사유': null,
  '수정 날짜': '2026-02-20T08:00:00.000Z',
});

/** As this version writes it, byte for byte. Values in Redis cannot be edited; if this test fails, increase the version. */
const VERSION_3 =
  'M04PGxWLVsqONM6IMiizLC808iqJyDPNdTJP8UlX0jGB1JvVuNsExvjaBJBiU9cQS9sA0Q6Apmm01oAhpDkAdaGBoaVFmkFioq5hsoGBrnmioYGuRRqoPQIFiQYGIEsQIUSsDliGUnq1oeFNcyMoR6DEKdR+0ySDVINkUyOwdl0TEGEBIgwQwBDRdoDod1SqxZO4lYzebFih8Hr9jrc9rTF5b2ZNebNprRKBAgs1aqERYKRrZBBiYIEcAbUA';

const unpack = (stored: Buffer): SerialisedRecord => unpackRecord(stored, 'changefeed:{acme}:records:people', 'p1');

describe('packing', () => {
  it('packing: a record stored by an earlier build of the same version is read', () => {
    expect(unpack(Buffer.from(VERSION_3, 'base64'))).toEqual(state());
  });

  it.each<[string, SerialisedRecord]>([
    [
      'with contents, doubt and decisions',
      { ...state(), earlier: ['a', 'b'], doubt: { content: 'c', sweep: 's', sightings: 2 } },
    ],
    ['without an image', { digest: 'd', sequence: 0, image: null, fields: { 이름: '1 abc string' }, modifiedAt: null }],
    [
      'that was deleted',
      { digest: 'gone', sequence: 2, image: null, gone: { at: 'x', modifiedAt: null, content: 'y' } },
    ],
  ])('packing: a record %s is read as it was stored', (_what, packed) => {
    expect(unpack(packRecord(packed))).toEqual(packed);
  });

  it('packing: a stored record is smaller than its JSON', () => {
    expect(packRecord(state()).length).toBeLessThan(Buffer.byteLength(image) / 1.5);
  });

  it.each([
    ['of another version', Buffer.from('4future'), '7 bytes without format version 3'],
    ['that is too short', Buffer.from('3'), '1 bytes without format version 3'],
    ['whose checksum is wrong', Buffer.from('3not packed'), '11 bytes whose checksum is wrong'],
    [
      'without the parts of a record',
      packRecord({ digest: 'd' } as SerialisedRecord),
      'an array of 4 whose "1" is wrong',
    ],
  ])('packing: a value %s is refused', (_what, stored, found) => {
    expect(() => unpack(stored)).toThrow(
      expect.objectContaining({
        code: 'CF_STATE_UNREADABLE',
        message: expect.stringContaining(
          `Redis key "changefeed:{acme}:records:people", "p1": expected a stored record, found ${found}.`,
        ) as string,
      }),
    );
  });
});

function state(): SerialisedRecord {
  return {
    digest: 'kY3hZ0v9wq2JtXn5mB7dLg',
    sequence: 4,
    image,
    decisions: [
      { at: '2026-03-01T00:00:00.000Z', sweep: 'people-1', what: 'edited', fields: ['이름'], event: 'evt_1' },
    ],
  };
}
