/** Behaviour of the sandbox that defeats shortcuts: kept cursors, learned orders, the activity feed. */
import { afterEach, describe, expect, test } from 'vitest';
import { systemClock } from '../../src/runtime/clock.js';
import type { Behaviour } from '../../src/sandbox/faults/behaviour.js';
import type { SandboxOptions } from '../../src/sandbox/options.js';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.js';
import { readPage, walk, type Fields, type Target } from '../support/read-api.js';

const open: Sandbox[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((sandbox) => sandbox.stop()));
});

interface Served {
  sandbox: Sandbox;
  target: Target;
  /** Lets the sandbox's time pass. */
  pass: (ms: number) => void;
}

const START = Date.parse('2026-03-01T09:00:00.000Z');

async function served(behaviour: Partial<Behaviour>, options: SandboxOptions = {}): Promise<Served> {
  let now = START;
  const clock = { ...systemClock, now: () => now };
  const sandbox = createSandbox({
    people: 30,
    limit: null,
    clock,
    ...options,
    behaviour: { pageSize: 10, cursorLifetimeMs: 10_000, ...behaviour },
  });
  open.push(sandbox);
  return { sandbox, target: await sandbox.start(), pass: (ms) => (now += ms) };
}

const idsOf = (records: readonly Fields[]): string[] => records.map(({ id }) => id);

describe('sandbox late rows', () => {
  test('stand in their place in every order once they appear, although the list has not changed since', async () => {
    const { sandbox, target, pass } = await served({ activityLateMs: 120_000, order: 'id' });
    const row = sandbox.life.addActivity();
    const before = idsOf(await walk(target, 'activity'));
    expect(before).not.toContain(row);
    pass(121_000);
    const after = idsOf(await walk(target, 'activity'));
    expect(after).toContain(row);
    expect(new Set(after).size).toBe(sandbox.world.order('activity', 'creation').length);
  });
});

describe('sandbox kept cursors', () => {
  async function kept(keptCursors: Behaviour['keptCursors']): Promise<Served & { all: string[]; cursor: string }> {
    const parts = await served({ keptCursors });
    const all = idsOf(await walk(parts.target, 'people'));
    return { ...parts, all, cursor: all[9] ?? '' };
  }

  test.each(['old-snapshot', 'shifted', 'reassigned'] as const)(
    'a cursor that was just given out works under "%s"',
    async (how) => {
      const { target, all, cursor, sandbox } = await kept(how);
      sandbox.life.editPerson(all[12], { position: '고문' });
      const { records } = await readPage(target, 'people', cursor);
      expect(idsOf(records)).toEqual(all.slice(10, 20));
      expect(records[2]?.['포지션']).toBe('고문');
    },
  );

  test('an old cursor shows its page as it was when it was given out, and so do the cursors behind it', async () => {
    const { target, all, cursor, sandbox, pass } = await kept('old-snapshot');
    const before = await readPage(target, 'people', cursor);
    sandbox.life.editPerson(all[12], { position: '고문' });
    sandbox.life.delete('people', all[15]);
    sandbox.life.editPerson(all[22], { position: '고문' });
    pass(10_001);
    const old = await readPage(target, 'people', cursor);
    expect(old).toEqual(before);
    expect((await readPage(target, 'people', old.nextCursor)).records[2]?.['포지션']).not.toBe('고문');
    const fresh = await walk(target, 'people');
    expect(fresh.filter((record) => record['포지션'] === '고문').map(({ id }) => id)).toEqual([all[12], all[22]]);
    expect(idsOf(fresh)).not.toContain(all[15]);
  });

  test('an old cursor does not make a change visible in the journal; the next walk does', async () => {
    const { target, all, cursor, sandbox, pass } = await kept('old-snapshot');
    sandbox.life.editPerson(all[12], { position: '고문' });
    pass(10_001);
    await readPage(target, 'people', cursor);
    const edits = sandbox.journal.lines().filter((line) => line.line === 'mutation');
    expect(edits).toMatchObject([{ visibleAt: null }]);
    await walk(target, 'people');
    expect(edits).toMatchObject([{ visibleAt: expect.any(String) as string }]);
  });

  test('an old cursor skips a record, or leads to another place', async () => {
    const shifted = await kept('shifted');
    shifted.pass(10_001);
    const late = await readPage(shifted.target, 'people', shifted.cursor);
    expect(idsOf(late.records)).toEqual(shifted.all.slice(11, 21));
    const turned = await kept('reassigned');
    turned.pass(10_001);
    const elsewhere = await readPage(turned.target, 'people', turned.cursor);
    expect(idsOf(elsewhere.records)[0]).not.toBe(turned.all[10]);
    expect(idsOf(await walk(turned.target, 'people'))).toEqual(turned.all);
  });
});

describe('sandbox orders', () => {
  test('with "newest-first" a new record is the first', async () => {
    const { sandbox, target } = await served({ order: 'newest-first' });
    const before = idsOf(await walk(target, 'people'));
    const id = sandbox.life.createPerson();
    expect(idsOf(await walk(target, 'people'))).toEqual([id, ...before]);
  });

  test('the order changes between walks, never within one', async () => {
    const { target, pass } = await served({ orderChangesMs: 30_000 });
    const creation = idsOf(await walk(target, 'people'));
    const first = await readPage(target, 'people');
    pass(30_000);
    const second = await readPage(target, 'people', first.nextCursor);
    expect(idsOf(second.records)).toEqual(creation.slice(10, 20));
    expect(idsOf(await walk(target, 'people'))).toEqual(creation.toReversed());
    pass(30_000);
    expect(idsOf(await walk(target, 'people'))).toEqual(creation.toSorted());
    pass(30_000);
    expect(idsOf(await walk(target, 'people'))).toEqual(creation);
  });
});

describe('sandbox activity feed', () => {
  test('new rows appear late, and then at their place', async () => {
    const { sandbox, target, pass } = await served({ activityLateMs: 120_000 });
    const before = idsOf(await walk(target, 'activity'));
    sandbox.life.addActivity();
    pass(119_999);
    expect(idsOf(await walk(target, 'activity'))).toEqual(before);
    pass(1);
    const after = idsOf(await walk(target, 'activity'));
    expect(after.slice(0, before.length)).toEqual(before);
    expect(after.length).toBeGreaterThan(before.length);
  });

  test('a lying feed names other people, the same in every answer and in the journal', async () => {
    const { sandbox, target } = await served({});
    const right = await walk(target, 'activity');
    sandbox.behave({ activityNames: 'wrong' });
    const wrong = await walk(target, 'activity');
    expect(wrong).toEqual(await walk(target, 'activity'));
    const differ = wrong.filter((row, nth) => row['peopleId'] !== right[nth]?.['peopleId']);
    expect(differ.length).toBeGreaterThan(right.length * 0.8);
    const people = new Set(idsOf(await walk(target, 'people')));
    expect(wrong.every((row) => people.has(String(row['peopleId'])))).toBe(true);
    sandbox.life.addActivity();
    const newest = (await walk(target, 'activity')).at(-1);
    const journalled = sandbox.journal.lines().findLast((line) => line.line === 'mutation' && line.list === 'activity');
    expect(journalled).toMatchObject({ after: { peopleId: newest?.['peopleId'] } });
  });
});
