import { expect, it } from 'vitest';
import { compareSubscriptions } from '../../src/dispatch/compare-subscriptions.js';
import { defineHandler } from '../../src/handlers/define.js';
import { ndjson } from '../../src/handlers/ndjson/ndjson.js';

const greet = (name = 'greet') => defineHandler({ name, handle: () => undefined });

it('reload: subscriptions are compared by name and by the options they were made from', () => {
  const before = [ndjson({ name: 'same', path: 'a' }), ndjson({ name: 'other', path: 'a' }), greet(), greet('gone')];
  const after = [ndjson({ name: 'same', path: 'a' }), ndjson({ name: 'other', path: 'b' }), greet(), greet('new')];

  const { subscriptions, ...names } = compareSubscriptions(before, after);

  // Two functions cannot be compared, so `greet` counts as changed.
  expect(names).toEqual({ added: ['new'], changed: ['other', 'greet'], removed: ['gone'] });
  expect(subscriptions).toEqual([before[0], ...after.slice(1)]);
  expect(subscriptions[0]).toBe(before[0]);
});

it('reload: a subscription that is the same object counts as unchanged', () => {
  const [one, other] = [greet('one'), greet('other')];
  expect(compareSubscriptions([one], [one, other])).toEqual({
    subscriptions: [one, other],
    added: ['other'],
    changed: [],
    removed: [],
  });
});
