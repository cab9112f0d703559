import { describe, expect, it } from 'vitest';
import { packRecord, unpackRecord } from '../../src/state/packing.js';
import { fieldNames, NO_NAMES } from '../../src/state/field-names.js';
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
const VERSION_6 =
  'Nv+RreFnS/3Cpia5sa4BKnvfeYs20anGnUyM8SWTgtT8gpxUXUMsyQWRNN7M3fJ6WQv2BMLFpWRgaGmRZpCYqGuYbGCga55oaKBrkQZKnVCQaGBgqES0slcbGt40N76Zu0MJFq2mSQapBsmmRmCVSEnLAAEMEVH/unvL6+6djqAUYPRmwwqF1+t3vO1pjcl7M2vKm01rlSCJCRo0RrpGBiEGFshBAwA=';

const NAMES = fieldNames(Object.keys(JSON.parse(image) as object));

const TABLES = { byId: new Map([[NAMES.id, NAMES]]), at: { key: 'names', what: 'field names', remedy: '' } };

const unpack = (stored: Buffer): SerialisedRecord =>
  unpackRecord(stored, { hash: 'changefeed:{acme}:records:people', key: 'p1' }, TABLES);

describe('packing', () => {
  it('packing: a record stored by an earlier build of the same version is read', () => {
    expect(unpack(Buffer.from(VERSION_6, 'base64'))).toEqual(state());
  });

  it.each<[string, SerialisedRecord]>([
    [
      'with contents, doubt and decisions',
      { ...state(), earlier: ['a', 'b'], doubt: { content: 'c', sweep: 's', sightings: 2 } },
    ],
    [
      'without an image',
      {
        digest: 'd',
        sequence: 0,
        image: null,
        fields: { 이름: '1 0a1b2c3d = string', 담당자: '1 - = null', 팀: '1 0a1b2c3d 99990000 list', __proto__: 'x' },
        modifiedAt: null,
      },
    ],
    [
      'without an image, with names of its own',
      { digest: 'd', sequence: 1, image: null, fields: { '딜 개수': '1 0a1b2c3d = number', 이름: '1 - = null' } },
    ],
    [
      'that was deleted',
      { digest: 'gone', sequence: 2, image: null, gone: { at: 'x', modifiedAt: null, content: 'y' } },
    ],
  ])('packing: a record %s is read as it was stored', (_what, packed) => {
    expect(unpack(packRecord('p1', packed, NAMES))).toEqual(packed);
    expect(unpack(packRecord('p1', packed, NO_NAMES))).toEqual(packed);
  });

  it('packing: a stored record is smaller than its JSON', () => {
    expect(packRecord('p1', state(), NAMES).length).toBeLessThan(Buffer.byteLength(image) / 1.5);
  });

  it.each([
    ['of another version', Buffer.from('4former'), '7 bytes without format version 6'],
    ['that is too short', Buffer.from(''), '0 bytes without format version 6'],
    [
      'whose checksum is wrong',
      Buffer.from('6\x01d----\x01' + '\x4f\x53\xcd\xa1not packed', 'latin1'),
      '22 bytes whose checksum is wrong',
    ],
    [
      'without the parts of a record',
      packRecord('p1', { digest: 'd', image: null } as SerialisedRecord, NO_NAMES),
      'an array of 2 whose "0" is wrong',
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
    digest: '91ade1674bfdc2a6',
    sequence: 4,
    image,
    decisions: [
      { at: '2026-03-01T00:00:00.000Z', sweep: 'people-1', what: 'edited', fields: ['이름'], event: 'evt_1' },
    ],
  };
}
