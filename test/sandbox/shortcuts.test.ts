/** What the sandbox shows a client that keeps cursors or learns where a list grows. */
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

describe('sandbox kept cursors', () => {
  async function kept(): Promise<Served & { all: string[]; cursor: string }> {
    const parts = await served({ keptCursors: 'old-snapshot' });
    const all = idsOf(await walk(parts.target, 'people'));
    return { ...parts, all, cursor: all[9] ?? '' };
  }

  test('a cursor that was just given out shows its page as it is', async () => {
    const { target, all, cursor, sandbox } = await kept();
    sandbox.life.editPerson(all[12], { position: '고문' });
    const { records } = await readPage(target, 'people', cursor);
    expect(idsOf(records)).toEqual(all.slice(10, 20));
    expect(records[2]?.['포지션']).toBe('고문');
  });

  test('an old cursor shows its page as it was when it was given out, and so do the cursors behind it', async () => {
    const { target, all, cursor, sandbox, pass } = await kept();
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
    const { target, all, cursor, sandbox, pass } = await kept();
    sandbox.life.editPerson(all[12], { position: '고문' });
    pass(10_001);
    await readPage(target, 'people', cursor);
    const edits = sandbox.journal.lines().filter((line) => line.line === 'mutation');
    expect(edits).toMatchObject([{ visibleAt: null }]);
    await walk(target, 'people');
    expect(edits).toMatchObject([{ visibleAt: expect.any(String) as string }]);
  });
});

describe('sandbox orders', () => {
  test('with "newest-first" a new record is the first', async () => {
    const { sandbox, target } = await served({ order: 'newest-first' });
    const before = idsOf(await walk(target, 'people'));
    const id = sandbox.life.createPerson();
    expect(idsOf(await walk(target, 'people'))).toEqual([id, ...before]);
  });
});
