// A kind of handler and its checks, as its author runs them. `.ci/package` runs it with vitest, jest and node:test from the packed package.
import assert from 'node:assert/strict';
import { defineKind, kindOptions } from 'crm-changefeed';
import { kindConformance } from 'crm-changefeed/testing/kind';

const { test } = 'test' in globalThis ? globalThis : await import('node:test');

const rooms = new Map();
const kind = defineKind({
  name: 'memory',
  words: { en: 'memory', ko: '메모리' },
  options: kindOptions({}),
  open: ({ name }) => ({
    deliver(event) {
      if (rooms.get(name).state === 'down') throw new Error('away');
      rooms.get(name).arrived.push({ id: event.id, content: event });
    },
    failure: () => ({ message: 'it is away.' }),
  }),
});

async function receiver() {
  const room = { state: 'accepting', arrived: [] };
  rooms.set('conformance', room);
  const become = (state) => void (room.state = state);
  return { options: {}, secrets: [], arrived: () => room.arrived, become, connections: () => 0, close: async () => {} };
}

const reason = 'memory answers at once';
const without = { slow: reason, stops: reason, refuses: reason, limits: reason };
const checks = kindConformance({ kind, receiver, wrong: [], without });
for (const { name, run } of checks) test(name, run);
test('each promise has a check', () => assert.equal(checks.length, 15));
