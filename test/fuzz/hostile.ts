/** Inputs that somebody else makes: JSON that is nearly right, and bytes that are nearly text. */
import fc from 'fast-check';

const NAMES = ['__proto__', 'constructor', 'toString', 'id', 'length', '', ' ', '\u0000', '이름', '\ud800', 'a.b', '0'];

/** Any JSON value, and what JSON can say that programs seldom expect. */
export const jsonText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value)) },
  fc.constantFrom(
    '1e999',
    '-0',
    '9007199254740993',
    '"\\ud800"',
    '{"a":1,"a":2}',
    '{"__proto__":{"x":1}}',
    '[1,]',
    'NaN',
    '',
  ),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth) + ']'.repeat(depth)),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => '['.repeat(depth)),
  fc.integer({ min: 1, max: 20_000 }).map((depth) => '{"a":'.repeat(depth) + '1' + '}'.repeat(depth)),
);

export function bent(value: unknown): fc.Arbitrary<unknown> {
  return fc
    .array(
      fc.record({ at: fc.nat(), how: fc.nat(5), name: fc.constantFrom(...NAMES), put: fc.jsonValue({ maxDepth: 2 }) }),
      {
        minLength: 1,
        maxLength: 4,
      },
    )
    .map((bends) => {
      const copy: unknown = structuredClone(value);
      for (const { at, how, name, put } of bends) {
        const holders = holdersIn(copy);
        const holder = holders[at % holders.length];
        if (holder === undefined) continue;
        const keys = Object.keys(holder);
        const key = keys[at % Math.max(1, keys.length)] ?? name;
        if (how === 0) Reflect.deleteProperty(holder, key);
        else if (how === 1 && Array.isArray(holder)) Array.prototype.push.call(holder, put);
        else if (how === 1)
          Object.defineProperty(holder, name, { value: put, enumerable: true, configurable: true, writable: true });
        else if (key !== 'length')
          holder[key] =
            how === 2 ? JSON.stringify([holder[key]]).repeat(1 + (at % 50)) : how === 3 ? [holder[key]] : put;
      }
      return copy;
    });
}

export function torn(text: string | Buffer): fc.Arbitrary<Buffer> {
  return fc
    .array(fc.record({ at: fc.nat(), how: fc.nat(3), put: fc.uint8Array({ minLength: 1, maxLength: 8 }) }), {
      minLength: 1,
      maxLength: 4,
    })
    .map((tears) => {
      let bytes = Buffer.from(text as string);
      for (const { at, how, put } of tears) {
        const place = at % Math.max(1, bytes.length);
        const rest = bytes.subarray(how === 1 ? place : place + put.length);
        if (how === 0) bytes = bytes.subarray(0, place);
        else bytes = Buffer.concat([bytes.subarray(0, place), how === 3 ? bytes : put, rest]);
      }
      return bytes;
    });
}

function holdersIn(value: unknown): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value as Record<string, unknown>, ...Object.values(value).flatMap(holdersIn)];
}
