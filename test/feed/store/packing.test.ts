import fc from 'fast-check';
import { expect, it } from 'vitest';
import { firstSequenceOf } from '../../../src/events/envelope.js';
import { keyOfField, recordField } from '../../../src/redis/keys.js';
import { HEAD_BYTES, headOfPacked, packRecord, unpackRecord } from '../../../src/feed/store/packing.js';
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
const VERSION_A =
  'Qf+RreFnS/3CpgSvko4+q8bdNjQmom1oiGgcYmvaQQoXtDadIcgNMBcYGFpapBkkJuoaJhsY6JonGhroWqSBmqVQkGhgYIjSUiJWB7xge7Wh4U1zI6gMwpY0TZMMUg2STY3A2pHizAABDBEBDNHviJzhMUsXozcbVii8Xr/jbU9rTN6bWVPebFqrhD/HYE3wBka6RgYhBhYoTXkA';

const unpack = (stored: Buffer): SerialisedRecord =>
  unpackRecord(stored, { hash: 'changefeed:{acme}:records:people', key: 'p1' });

it('packing: a record stored by an earlier build of the same version is read', () => {
  expect(unpack(Buffer.from(VERSION_A, 'base64'))).toEqual(state());
});

it.each<[string, SerialisedRecord]>([
  ['with decisions and the content before a change of the schema', { ...state(), beforeDrift: 'c' }],
  ['that was deleted', { digest: 'gone', sequence: 2, image: null, gone: { at: 'x', modifiedAt: null } }],
])('packing: a record %s is read as it was stored', (_what, packed) => {
  expect(unpack(packRecord('p1', packed))).toEqual(packed);
});

it.each([0, 1, 127, 128, 16_383, 16_384, 2 ** 32, firstSequenceOf(1_900_000_000), Number.MAX_SAFE_INTEGER])(
  'packing: digest and sequence %i are read from the head alone',
  (sequence) => {
    const packed = packRecord('p1', { ...state(), sequence });
    const { digest, sequence: read } = headOfPacked(packed.subarray(0, HEAD_BYTES), 'hash', 'p1');
    expect([digest, read, unpack(packed)]).toEqual([state().digest, sequence, { ...state(), sequence }]);
  },
);

it('packing: a stored record is smaller than its JSON', () => {
  expect(packRecord('p1', state()).length).toBeLessThan(Buffer.byteLength(image) / 1.5);
});

it.each([
  ['of another version', Buffer.from('4former'), '7 bytes without format version A'],
  ['that is too short', Buffer.from(''), '0 bytes without format version A'],
  ['whose sequence is cut off', Buffer.from('A\x01d\x81', 'latin1'), '4 bytes without format version A'],
  [
    'whose checksum is wrong',
    Buffer.from('A\x01d\x00----\x01not packed', 'latin1'),
    '19 bytes whose checksum is wrong',
  ],
  ['with the sequence of another', withSequence(packRecord('p1', state()), 5), '156 bytes whose checksum is wrong'],
  [
    'without the parts of a record',
    packRecord('p1', { digest: 'd', sequence: 0, image: null, masked: 1 } as unknown as SerialisedRecord),
    'an object with 1 keys whose "masked" is wrong',
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

/** The byte after version, mark and digest. */
function withSequence(packed: Buffer, sequence: number): Buffer {
  packed[10] = sequence;
  return packed;
}

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
