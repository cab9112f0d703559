import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkStorm, type ViolationKind } from './checker.js';
import { readJournal, type JournalEntry, type Line, type Outcome, type StormEvent } from './journal.js';
import { SUBSCRIPTIONS } from './plan.js';

const of = (sequence: number, about: Partial<StormEvent> = {}): StormEvent => {
  return { subscription: 'ordered', record: 'r1', sequence, replay: false, ...about };
};

class Journal {
  readonly #entries: JournalEntry[] = [];
  #runs = 0;

  begin(sequence: number, pid = 1, about: Partial<StormEvent> = {}): number {
    const run = (this.#runs += 1);
    this.#entries.push({ kind: 'begin', pid, run, attempt: 1, ...of(sequence, about) });
    return run;
  }
  end(run: number, outcome: Outcome = 'done', pid = 1): this {
    this.#entries.push({ kind: 'end', pid, run, outcome });
    return this;
  }
  run(sequence: number, outcome: Outcome = 'done', pid = 1, about: Partial<StormEvent> = {}): this {
    return this.end(this.begin(sequence, pid, about), outcome, pid);
  }
  add(...entries: JournalEntry[]): this {
    this.#entries.push(...entries);
    return this;
  }
  wait(lines: number): this {
    for (let n = 0; n < lines; n += 1) this.add({ kind: 'continued', pid: 0 });
    return this;
  }
  violations(dead: StormEvent[] = [], expected: StormEvent[] = []): ViolationKind[] {
    const lines = this.#entries.map((entry, n): Line => ({ at: n * 100, ...entry }));
    return checkStorm({ lines, subscriptions: SUBSCRIPTIONS, expected, dead, awayMs: 500 }).violations.map(
      ({ kind }) => kind,
    );
  }
}

const retried = (sequence: number, about: Partial<StormEvent> = {}): JournalEntry => ({
  kind: 'retried',
  ...of(sequence, about),
});
const held = { subscription: 'held' };
const loose = { subscription: 'loose' };

describe('storm checker: accepts', () => {
  it.each<[string, Journal]>([
    ['retries before the next event', new Journal().run(1, 'failed').run(1, 'aborted').run(1).run(2)],
    ['a released dead letter', new Journal().run(1, 'final').run(2)],
    ['a dead letter that is retried later', new Journal().run(1, 'final').run(2).add(retried(1)).run(1).run(3)],
    [
      'a held dead letter that is retried',
      new Journal().run(1, 'final', 1, held).add(retried(1, held)).run(1, 'done', 1, held),
    ],
    [
      'a held dead letter that is dropped',
      new Journal()
        .run(1, 'final', 1, held)
        .add({ kind: 'dropped', ...of(1, held) })
        .run(2, 'done', 1, held),
    ],
    ['a replay in order', new Journal().run(1).run(2).run(1, 'done', 1, { replay: true }).run(3)],
    ['any sequence without an order', new Journal().run(3, 'done', 1, loose).run(1, 'done', 1, loose)],
  ])('%s', (_what, journal) => expect(journal.violations()).toEqual([]));

  it('a repeat when the process was killed in a handler, or after the handler and before that was known', () => {
    const journal = new Journal();
    journal.begin(1);
    journal.add({ kind: 'killed', pid: 1 }).run(1, 'done', 2).add({ kind: 'killed', pid: 2 }).run(1, 'done', 3).run(2);
    expect(journal.violations()).toEqual([]);
  });

  it('an overlap with a process that had been stopped for long enough', () => {
    const journal = new Journal();
    const stale = journal.begin(1);
    journal.add({ kind: 'stopped', pid: 1 }).wait(6).run(1, 'done', 2);
    journal.begin(2, 2);
    expect(journal.end(stale).violations()).toEqual([]);
  });
});

describe('storm checker: reports', () => {
  const overlapping = new Journal();
  overlapping.begin(1);
  overlapping.begin(2);
  const stoppedBriefly = new Journal();
  stoppedBriefly.begin(1);
  stoppedBriefly.add({ kind: 'stopped', pid: 1 }).wait(2).run(1, 'done', 2);
  const overtaking = new Journal();
  overtaking.begin(1);
  overtaking.add({ kind: 'stopped', pid: 1 }).wait(6).run(2, 'done', 2);

  it.each<[string, Journal, ViolationKind[]]>([
    ['two runs at once', overlapping, ['overlap', 'overtaken']],
    ['an overlap with a process that was stopped only briefly', stoppedBriefly, ['overlap', 'repeated without reason']],
    ['a follower of an event whose process is stopped', overtaking, ['overtaken']],
    ['a gap', new Journal().run(1).run(3), ['out of sequence']],
    ['an event that runs again after its life', new Journal().run(1).run(2).run(1), ['came back']],
    [
      'an event that runs again after its life and a kill',
      new Journal().run(1).run(2, 'done', 2).add({ kind: 'killed', pid: 1 }).run(1),
      ['came back'],
    ],
    ['a repeat without a reason', new Journal().run(1).run(1), ['repeated without reason']],
    ['a follower of a failed attempt', new Journal().run(1, 'failed').run(2), ['overtaken']],
    ['a follower of a held dead letter', new Journal().run(1, 'final', 1, held).run(2, 'done', 1, held), ['overtaken']],
    [
      'a replay out of order',
      new Journal().run(1).run(2).run(2, 'done', 1, { replay: true }).run(1, 'done', 1, { replay: true }),
      ['came back'],
    ],
    [
      'a repeat without a reason where there is no order',
      new Journal().run(1, 'done', 1, loose).run(1, 'done', 1, loose),
      ['repeated without reason'],
    ],
    [
      'an effect that ran twice',
      new Journal().add({ kind: 'effect', pid: 1, ...of(1) }, { kind: 'effect', pid: 1, ...of(1) }),
      ['effect twice'],
    ],
  ])('%s', (_what, journal, kinds) => expect(journal.violations()).toEqual(kinds));

  it('events that are neither done nor dead nor dropped, and events that are both done and dead', () => {
    const journal = new Journal().run(1).run(2, 'failed');
    expect(journal.violations([of(1)], [of(1), of(2), of(3)])).toEqual(['dead and done', 'lost', 'lost']);
  });
});

const facts = { subscriptions: SUBSCRIPTIONS, expected: [], dead: [], awayMs: 900 };

/** Violations in a journal that processes have written in this order. */
function judgedFile(lines: readonly Line[]): number {
  const dir = mkdtempSync(join(tmpdir(), 'changefeed-journal-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'journal.jsonl');
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  return checkStorm({ ...facts, lines: readJournal(file) }).violations.length;
}

it('storm journal: a line that a stopped process wrote late is ordered by its time', () => {
  // Process 1 read the clock, was stopped, and wrote after process 2 had taken over its event.
  const lines: Line[] = [
    { at: 100, kind: 'stopped', pid: 1 },
    { at: 3_000, kind: 'begin', pid: 2, run: 1, attempt: 1, ...of(1) },
    { at: 3_010, kind: 'end', pid: 2, run: 1, outcome: 'done' },
    { at: 99, kind: 'begin', pid: 1, run: 1, attempt: 1, ...of(1) },
    { at: 3_500, kind: 'continued', pid: 1 },
  ];
  expect(judgedFile(lines)).toBe(0);
  // The control: in the order of the file, the event runs again after its life.
  expect(checkStorm({ ...facts, lines }).violations.length).toBeGreaterThan(0);
});

describe('storm journal: a process that was stopped', () => {
  const lines: Line[] = [
    { at: 100, kind: 'stopped', pid: 1 },
    { at: 3_000, kind: 'begin', pid: 2, run: 1, attempt: 1, ...of(1) },
    { at: 3_010, kind: 'end', pid: 2, run: 1, outcome: 'done' },
    { at: 3_500, kind: 'continued', pid: 1 },
  ];
  const begin: Line = { at: 3_501, kind: 'begin', pid: 1, run: 1, attempt: 1, ...of(1) };
  const judged = (...more: readonly Line[]): number => judgedFile([...lines, ...more]);

  it('a run that begins when it is continued, before anything else, was called before the stop', () => {
    expect(judged(begin)).toBe(0);
    expect(judged({ at: 3_501, kind: 'continued', pid: 1 }, begin)).toBe(0);
  });

  it('a run that begins later, or after something else, was not', () => {
    expect(judged({ ...begin, at: 3_510 })).toBeGreaterThan(0);
    expect(judged({ at: 3_500, kind: 'starved', pid: 1, sinceMs: 100 }, begin)).toBeGreaterThan(0);
    const again: Line = { at: 3_600, kind: 'continued', pid: 1 };
    expect(judged(again, { ...begin, at: 3_601 })).toBeGreaterThan(0);
  });

  it('a process that runs may be continued', () => {
    const next: Line = { at: 3_611, kind: 'begin', pid: 1, run: 2, attempt: 1, ...of(2) };
    expect(
      judged({ at: 3_600, kind: 'starved', pid: 1, sinceMs: 100 }, { at: 3_610, kind: 'continued', pid: 1 }, next),
    ).toBe(0);
  });
});
