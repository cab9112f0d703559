import { expect, it } from 'vitest';
import { customValues, editCustom } from '../../sandbox/world/custom.js';
import { Directory } from '../../sandbox/world/directory.js';
import { dice } from '../../sandbox/world/random.js';
import { contentText } from '../../sandbox/verify/equality.js';

const EQUALITY = { ignore: new Set<string>(), refNames: 'ignored' } as const;

it('sandbox: an edit of a custom field is one that the list API can show, never null for an empty list', () => {
  const directory = new Directory(1);
  const unseen = Array.from({ length: 2_000 }, (_, seed) => {
    const values = customValues('people', dice(seed, 1), 0, directory);
    const edited = editCustom('people', values, dice(seed, 2), 0, directory);
    return contentText({ id: 'p', ...values }, EQUALITY) === contentText({ id: 'p', ...edited }, EQUALITY)
      ? [seed]
      : [];
  }).flat();
  expect(unseen).toEqual([]);
});
