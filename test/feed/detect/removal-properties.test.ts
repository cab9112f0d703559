import fc from 'fast-check';
import { expect, it } from 'vitest';
import { vanished } from '../../../src/feed/detect/removal.js';
import { packKeys, unpackKeys } from '../../../src/feed/store/membership.js';

const key = fc.oneof(fc.uuid(), fc.stringMatching(/^[0-9a-f]{24}$/u), fc.string({ minLength: 1, unit: 'grapheme' }));
const pages = fc.array(fc.array(key, { maxLength: 5 }), { maxLength: 8 });

it('removal: vanished records are exactly those that were on some page before and are on none now', () => {
  fc.assert(
    fc.property(pages, pages, fc.array(fc.boolean(), { maxLength: 8 }), (before, now, kept) => {
      // Pages that did not change are not passed again.
      const after = now.map((keys, index) => (kept[index] === true ? (before[index] ?? keys) : keys));
      const changed = after
        .map((keys, index) => [index + 1, keys] as const)
        .filter(([page, keys]) => keys !== before[page - 1]);
      const change = {
        before: new Map(before.map((keys, index) => [index + 1, keys])),
        changed: new Map(changed),
        pages: after.length,
      };
      const present = new Set(after.flat());
      const expected = new Set(before.flat().filter((one) => !present.has(one)));
      expect(new Set(vanished(change))).toEqual(expected);
    }),
  );
});

it('page members: packed keys unpack to the same keys, independent of their order', () => {
  fc.assert(
    fc.property(fc.array(key), (keys) => {
      expect(unpackKeys(packKeys(keys), 'members', 1).sort()).toEqual([...keys].sort());
      expect(packKeys([...keys].reverse())).toEqual(packKeys(keys));
    }),
  );
});
