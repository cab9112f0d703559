import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compact, CompactReader } from '../../../src/feed/store/compact.js';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.uuid(),
  fc.date({ noInvalidDate: true }).map((date) => date.toISOString()),
);
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constant(null),
    fc.boolean(),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
    fc.integer(),
    text,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fc.oneof(text, fc.constantFrom('id', 'name', '담당자', '__proto__')), tie('value'), { maxKeys: 4 }),
    fc.record({ id: text, name: text }),
  ),
}));

it('history: a value is read as it was stored', () => {
  fc.assert(
    fc.property(value, (stored) => {
      const reader = new CompactReader(compact(stored), 0);
      expect(JSON.stringify(reader.read())).toBe(JSON.stringify(stored));
      expect(reader.isAtEnd).toBe(true);
    }),
  );
});

it('history: of bytes that are no value, none is made up without an end', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
      const reader = new CompactReader(Buffer.from(bytes), 0);
      try {
        reader.read();
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
    }),
  );
});
