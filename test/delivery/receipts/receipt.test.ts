import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  idBytes,
  packReceipt,
  receiptsIn,
  recordBytes,
  unpackReceipt,
  type Receipt,
} from '../../../src/delivery/receipts/receipt.js';

const hex = (length: number) =>
  fc
    .array(
      fc.nat(15).map((digit) => digit.toString(16)),
      { minLength: length, maxLength: length },
    )
    .map((all) => all.join(''));
const uuid = hex(32).map((text) => text.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5'));
const word = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 60 });
const eventId = fc.oneof(
  hex(32).map((text) => `evt_${text}`),
  word,
);
const recordId = fc.oneof(uuid, hex(24), word);
const timeMs = fc.integer({ min: 0, max: 4_000_000_000_000 });
const logId = fc.tuple(timeMs, fc.nat(5_000)).map(([ms, sequence]) => `${ms}-${sequence}`);
const small = fc.nat(100_000);

const receipt: fc.Arbitrary<Receipt> = fc
  .record(
    {
      outcome: fc.constantFrom('delivered', 'retry', 'dead', 'skipped'),
      endedAtMs: timeMs,
      ms: small,
      attempt: fc.nat(100),
      status: fc.constantFrom(0, 200, 204, 410, 599),
      eventId,
      logId,
      workspace: fc.constant('acme'),
      recordId,
      type: fc.oneof(fc.constantFrom('crm.person.updated', 'crm.todo.overdue', 'crm.lead_history.created'), word),
      waitMs: small,
      error: word,
      words: word,
      origin: word,
      into: eventId,
      digest: fc.record({ fromLogId: logId, count: small }),
    },
    {
      requiredKeys: [
        ...(['outcome', 'endedAtMs', 'ms', 'attempt', 'status', 'eventId', 'logId', 'workspace'] as const),
        ...(['recordId', 'type'] as const),
      ],
    },
  )
  .map(({ waitMs, ...rest }) => ({ ...rest, ...(waitMs !== undefined && { nextAtMs: rest.endedAtMs + waitMs }) }));

describe('receipts: a packed receipt', () => {
  it('is read as it was, alone and among others', () => {
    fc.assert(
      fc.property(fc.array(receipt, { maxLength: 20 }), (receipts) => {
        const chunk = Buffer.concat(receipts.map(packReceipt));
        expect(receiptsIn(chunk, () => true).map((one) => unpackReceipt(one, 'acme'))).toEqual(receipts);
      }),
    );
  });

  it('contains the bytes by which its event and its record are searched', () => {
    fc.assert(
      fc.property(receipt, (one) => {
        const packed = packReceipt(one);
        expect(packed.includes(idBytes(one.eventId))).toBe(true);
        expect(packed.includes(recordBytes(one.recordId))).toBe(true);
      }),
    );
  });

  it('of a usual delivery has at most 60 bytes', () => {
    const packed = packReceipt({
      ...{ outcome: 'delivered', endedAtMs: 1_790_000_000_000, ms: 120, attempt: 1, status: 200 },
      ...{ eventId: `evt_${'a1'.repeat(16)}`, logId: '1789999999000-3', workspace: 'acme' },
      ...{ recordId: '0190b3c4-0000-7000-8000-000000000001', type: 'crm.person.updated' },
    });
    expect(packed.length).toBeLessThanOrEqual(60);
  });

  it('of a later release, with an outcome that is not known, is left out', () => {
    const known = packReceipt(fc.sample(receipt, { seed: 1, numRuns: 1 })[0]!);
    const later = Buffer.from(known);
    later[2] = 9;
    expect(receiptsIn(Buffer.concat([later, known, later]), () => true)).toEqual([known]);
  });
});
