import { expect, it } from 'vitest';
import { compareSubscriptions } from '../../src/dispatch/compare-subscriptions.js';
import { defineHandler } from '../../src/handlers/define.js';
import { ndjson } from '../../src/handlers/ndjson/ndjson.js';

const greet = (name = 'greet') => defineHandler({ name, handle: () => undefined });

it('two sets of subscriptions are compared by name and by the options they were made of', () => {
  const before = [ndjson({ name: 'same', path: 'a' }), ndjson({ name: 'other', path: 'a' }), greet(), greet('gone')];
  const after = [ndjson({ name: 'same', path: 'a' }), ndjson({ name: 'other', path: 'b' }), greet(), greet('new')];

  const { subscriptions, ...names } = compareSubscriptions(before, after);

  // Nobody can say of two functions that they do the same.
  expect(names).toEqual({ added: ['new'], changed: ['other', 'greet'], removed: ['gone'] });
  expect(subscriptions).toEqual([before[0], ...after.slice(1)]);
  expect(subscriptions[0]).toBe(before[0]);
});

it('a subscription that is the very same object has not changed', () => {
  const [one, other] = [greet('one'), greet('other')];
  expect(compareSubscriptions([one], [one, other])).toEqual({
    subscriptions: [one, other],
    added: ['other'],
    changed: [],
    removed: [],
  });
});
