import fc from 'fast-check';
import { expect, it } from 'vitest';
import { keyOfField, recordField } from '../../../src/redis/keys.js';
import { packRecord, unpackRecord } from '../../../src/feed/store/packing.js';
import type { SerialisedRecord } from '../../../src/feed/store/sweep-state.js';

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
const VERSION_8 =
  'OP+RreFnS/3Cpka8HkeLNtGpxt1GNCaijWiIaCRia+JByhi0tp0huHEHc4WBoaVFmkFioq5hsoGBrnmioYGuRRqofQoFiQYGhigtJmJ1wAu4Vxsa3jQ3gsoibEnUNMkg1SDZ1AisHSnuDBDAEBHQEP2OyBkfs5QxerNhhcLr9Tve9rTG5L2ZNeXNprVK+HMO1oRvYKRrZBBiYIHSpgcA';

const unpack = (stored: Buffer): SerialisedRecord =>
  unpackRecord(stored, { hash: 'changefeed:{acme}:records:people', key: 'p1' });

it('packing: a record stored by an earlier build of the same version is read', () => {
  expect(unpack(Buffer.from(VERSION_8, 'base64'))).toEqual(state());
});

it.each<[string, SerialisedRecord]>([
  ['with decisions and the content before a change of the schema', { ...state(), beforeDrift: 'c' }],
  [
    'without an image',
    { digest: 'd', sequence: 0, image: null, modifiedAt: null, content: 'c', todo: { done: false, due: null } },
  ],
  ['that was deleted', { digest: 'gone', sequence: 2, image: null, gone: { at: 'x', modifiedAt: null } }],
])('packing: a record %s is read as it was stored', (_what, packed) => {
  expect(unpack(packRecord('p1', packed))).toEqual(packed);
});

it('packing: a stored record is smaller than its JSON', () => {
  expect(packRecord('p1', state()).length).toBeLessThan(Buffer.byteLength(image) / 1.5);
});

it.each([
  ['of another version', Buffer.from('4former'), '7 bytes without format version 8'],
  ['that is too short', Buffer.from(''), '0 bytes without format version 8'],
  ['whose checksum is wrong', Buffer.from('8\x01d----\x01not packed', 'latin1'), '18 bytes whose checksum is wrong'],
  [
    'without the parts of a record',
    packRecord('p1', { digest: 'd', image: null } as SerialisedRecord),
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

it('record key: every key is read as it was written, and no two keys share a field', () => {
  const uuid = fc.uuid();
  const hex = fc.string({
    unit: fc.constantFrom(...Array.from({ length: 16 }, (_, n) => n.toString(16))),
    minLength: 24,
    maxLength: 24,
  });
  const odd = fc.constantFrom(
    '',
    '\x00',
    '\x01abcdefghijkl',
    '\x02',
    '\x03',
    '\x03a',
    'ABCDEF0123456789ABCDEF01',
    '가',
  );
  fc.assert(
    fc.property(fc.uniqueArray(fc.oneof(uuid, hex, odd, fc.string({ unit: 'grapheme' }))), (keys) => {
      const fields = keys.map(recordField);
      expect(fields.map(keyOfField)).toEqual(keys);
      expect(new Set(fields.map((field) => field.toString('hex'))).size).toBe(keys.length);
    }),
  );
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
