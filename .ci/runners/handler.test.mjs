// One test of a handler, as a user writes it. `.ci/package` runs it with vitest, jest and node:test from the packed package.
import assert from 'node:assert/strict';
import { defineHandler } from 'crm-changefeed';
import { eventOf, runHandler, select } from 'crm-changefeed/testing';

const { test } = 'test' in globalThis ? globalThis : await import('node:test');

const vip = defineHandler({
  name: 'vip',
  on: ['crm.person.updated'],
  where: { 'after.등급': 'A' },
  handle: ({ data }, { log, once }) => once('task', () => log.info({ person: data.after.id }, 'task created')),
});

test('a grade that becomes A makes a task', async () => {
  const event = eventOf('crm.person.updated', { before: { 등급: 'B' }, after: { 등급: 'A' } });
  assert.deepEqual(select(vip, event), { selected: true });
  const { runs, lines } = await runHandler(vip, event);
  assert.deepEqual([runs[0].outcome, lines[0].message], ['delivered', 'task created']);
});
