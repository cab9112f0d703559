import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  endOf,
  hasOutcome,
  idText,
  lineOf,
  linesIn,
  receiptIn,
  recordText,
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

const chunkOf = (receipts: readonly Receipt[]): Buffer => Buffer.from(receipts.map(lineOf).join(''));

describe('receipts: a line', () => {
  it('is read as it was written, alone and among others', () => {
    fc.assert(
      fc.property(fc.array(receipt, { maxLength: 20 }), (receipts) => {
        const lines = linesIn(chunkOf(receipts));
        expect(lines.map((line) => receiptIn(line, 'acme'))).toEqual(receipts);
      }),
    );
  });

  it.each(['a\tb', 'a\nb', 'a\r\nb', '\\n', '"', '=a', '#a', ' a ', '\x1f', '고객'])(
    'is not broken by what a receiver or an id says: %j',
    (text) => {
      const usual = fc.sample(receipt, { seed: 1, numRuns: 1 })[0]!;
      const texts = { eventId: text, recordId: text, type: text, error: text, words: text, origin: text, into: text };
      const both = [{ ...usual, ...texts }, usual];
      const lines = linesIn(chunkOf(both));
      expect(lines.map((line) => receiptIn(line, 'acme'))).toEqual(both);
    },
  );

  it('contains the texts by which its event, its record and its outcome are searched, and when it ended', () => {
    fc.assert(
      fc.property(receipt, (given) => {
        const line = lineOf(given);
        expect(line).toContain(idText(given.eventId));
        expect(line).toContain(recordText(given.recordId));
        expect(hasOutcome(line, [given.outcome])).toBe(true);
        expect(hasOutcome(line, given.outcome === 'dead' ? ['delivered'] : ['dead'])).toBe(false);
        expect(endOf(line)).toBe(given.endedAtMs);
      }),
    );
  });

  it('of a usual delivery has at most 95 bytes', () => {
    const line = lineOf({
      ...{ outcome: 'delivered', endedAtMs: 1_790_000_000_000, ms: 120, attempt: 1, status: 200 },
      ...{ eventId: `evt_${'a1'.repeat(16)}`, logId: '1789999999000-3', workspace: 'acme' },
      ...{ recordId: '0190b3c4-0000-7000-8000-000000000001', type: 'crm.person.updated' },
    });
    expect(Buffer.byteLength(line)).toBeLessThanOrEqual(95);
  });

  it.each([
    ['that is cut off', (chunk: Buffer) => chunk.subarray(0, -1)],
    ['with bytes that are no text', (chunk: Buffer) => Buffer.concat([Buffer.of(0x80), chunk])],
    ['with an unknown outcome', (chunk: Buffer) => Buffer.concat([Buffer.from('?'), chunk.subarray(1)])],
  ])('%s is refused', (_what, damage) => {
    const damaged = damage(chunkOf(fc.sample(receipt, { seed: 1, numRuns: 1 })));
    expect(() => linesIn(damaged).map((line) => receiptIn(line, 'acme'))).toThrow();
  });
});
