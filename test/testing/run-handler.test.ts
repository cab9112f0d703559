import { describe, expect, it, vi } from 'vitest';
import { defineHandler, DisableSubscriptionError, PermanentError, RetryAfterError, webhook } from '../../src/index.js';
import { eventOf, fakeContext, runHandler, select } from '../../src/testing/index.js';

const vip = defineHandler({
  name: 'vip',
  on: ['crm.person.updated'],
  where: { 'after.등급': 'A' },
  handle: (event, { log }) => log.info({ person: event.data.after.id }, 'called'),
});

const toA = eventOf('crm.person.updated', { before: { 등급: 'B' }, after: { 등급: 'A' } });
const toB = eventOf('crm.person.updated', { before: { 등급: 'A' }, after: { 등급: 'B' }, sequence: 3 });

describe('testing: select', () => {
  it('testing: says whether a subscription gets an event, and why not', () => {
    expect(select(vip, toA)).toEqual({ selected: true });
    expect(select(vip, toB)).toEqual({
      selected: false,
      option: 'where',
      condition: expect.stringContaining('등급') as string,
      wanted: '"A"',
      found: '"B"',
    });
    expect(select(vip, eventOf('crm.todo.completed'))).toEqual({
      selected: false,
      option: 'on',
      condition: null,
      wanted: null,
      found: null,
    });
  });
});

describe('testing: fakeContext', () => {
  it('testing: a handler logs, does an effect once and reads records', async () => {
    const person = { id: 'p1', 이름: '오시시' };
    const context = fakeContext({ records: { people: [person] }, effects: { mail: 'done' } });
    const effect = vi.fn();
    expect(await context.once('task', effect)).toBe('ran');
    expect(await context.once('task', effect)).toBe('before');
    expect(await context.once('mail', effect)).toBe('before');
    expect(effect).toHaveBeenCalledTimes(1);
    await expect(context.once('failing', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect([...context.effects]).toEqual([
      ['mail', 'done'],
      ['task', 'done'],
    ]);
    expect(await context.records.get('person', 'p1')).toEqual(person);
    expect(await context.records.get('people', 'p2')).toBeNull();
    context.log.warn({ count: 1 }, 'a line');
    expect(context.lines).toMatchObject([
      { level: 'warn', message: 'a line', facts: { count: 1, subscription: 'test' } },
    ]);
    expect(context.signal.aborted).toBe(false);
    context.abort();
    expect(context.signal.aborted).toBe(true);
  });

  it('testing: an effect that began and did not end is not run again', async () => {
    const context = fakeContext({ effects: { task: 'started' } });
    expect(await context.once('task', () => expect.unreachable())).toBe('unknown');
  });
});

describe('testing: runHandler', () => {
  it('testing: applies the selection and hands over the event', async () => {
    const { runs, lines } = await runHandler(vip, [toB, toA]);
    expect(runs).toMatchObject([
      { outcome: 'skipped', because: 'where', ids: [toB.id], event: null },
      { outcome: 'delivered', ids: [toA.id], event: toA },
    ]);
    expect(lines).toMatchObject([{ message: 'called', facts: { subscription: 'vip', eventId: toA.id } }]);
  });

  it('testing: settle merges the changes of a record, and selects what is left of them', async () => {
    const settled = defineHandler({
      name: 'settled',
      on: ['crm.person.*'],
      settle: '1m',
      handle: () => ({ status: 202 }),
    });
    const other = eventOf('crm.person.created', { after: { id: 'other' } });
    const { runs } = await runHandler(settled, [toA, other, toB]);
    expect(runs).toMatchObject([
      { outcome: 'skipped', because: 'cancelled-out', ids: [toA.id, toB.id] },
      { outcome: 'delivered', status: 202, ids: [other.id], event: other },
    ]);
    const named = eventOf('crm.person.updated', {
      before: { 등급: 'A' },
      after: { 등급: 'A', 이름: '새 이름' },
      sequence: toA.data.sequence + 1,
    });
    const [run] = (await runHandler(settled, [toA, named])).runs;
    expect(run?.event?.data.changes.map(({ field }) => field)).toEqual(['등급', '이름']);
    expect(run?.event?.data.merged?.ids).toEqual([toA.id, named.id]);
  });

  it.each([
    { thrown: new RetryAfterError('busy', { retryAfter: '30s' }), outcome: { outcome: 'retry', waitMs: 30_000 } },
    { thrown: new Error('no answer'), outcome: { outcome: 'retry', waitMs: null } },
    { thrown: new PermanentError('refused'), outcome: { outcome: 'dead', because: 'permanent' } },
    { thrown: new DisableSubscriptionError('gone'), outcome: { outcome: 'paused' } },
  ])('testing: what a handler throws decides: $outcome.outcome', async ({ thrown, outcome }) => {
    const failing = defineHandler({ name: 'failing', on: ['crm.person.*'], handle: () => Promise.reject(thrown) });
    const { runs } = await runHandler(failing, toA);
    expect(runs).toMatchObject([{ ...outcome, error: thrown, ids: [toA.id] }]);
  });

  it('testing: the last attempt makes a dead letter, and events behind a retry wait', async () => {
    const failing = defineHandler({
      name: 'failing',
      on: ['crm.person.*'],
      handle: () => Promise.reject(new Error('no')),
    });
    expect((await runHandler(failing, toA, { attempt: 10 })).runs).toMatchObject([
      { outcome: 'dead', because: 'exhausted' },
    ]);
    expect((await runHandler(failing, [toA, toB])).runs).toMatchObject([{ outcome: 'retry' }, { outcome: 'waiting' }]);
  });

  it('testing: a digest gets the selected events at once', async () => {
    const daily = defineHandler({
      name: 'daily',
      on: ['crm.person.updated'],
      digest: { at: '09:00' },
      handleDigest: ({ count, types }, { log }) => log.info({ count, types }, 'digest'),
    });
    const { runs, lines } = await runHandler(daily, [toA, eventOf('crm.todo.completed'), toB]);
    expect(runs).toMatchObject([
      { outcome: 'delivered', ids: [toA.id, toB.id], digest: { count: 2 } },
      { outcome: 'skipped', because: 'on' },
    ]);
    expect(lines).toMatchObject([{ message: 'digest', facts: { count: 2 } }]);
  });

  it('testing: a handler of the package runs too', async () => {
    const hook = webhook({
      name: 'hook',
      url: 'http://127.0.0.1:9/hook',
      allowHosts: ['127.0.0.1'],
      secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
      retry: { attempts: 1 },
    });
    expect((await runHandler(hook, toA)).runs).toMatchObject([{ outcome: 'dead', because: 'exhausted' }]);
  });
});
