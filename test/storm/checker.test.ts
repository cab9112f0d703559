import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { judge, type Breach } from './checker.js';
import { SUBSCRIPTIONS } from './plan.js';
import { readRecord, type Happening, type Line, type Outcome, type Told } from './journal.js';

const of = (sequence: number, about: Partial<Told> = {}): Told => {
  return { subscription: 'ordered', record: 'r1', sequence, replay: false, ...about };
};

/** A record written by hand: a line each 100 ms. */
class Record {
  readonly #happenings: Happening[] = [];
  #runs = 0;

  begin(sequence: number, pid = 1, about: Partial<Told> = {}): number {
    const run = (this.#runs += 1);
    this.#happenings.push({ kind: 'begin', pid, run, attempt: 1, ...of(sequence, about) });
    return run;
  }
  end(run: number, outcome: Outcome = 'done', pid = 1): this {
    this.#happenings.push({ kind: 'end', pid, run, outcome });
    return this;
  }
  run(sequence: number, outcome: Outcome = 'done', pid = 1, about: Partial<Told> = {}): this {
    return this.end(this.begin(sequence, pid, about), outcome, pid);
  }
  note(...happenings: Happening[]): this {
    this.#happenings.push(...happenings);
    return this;
  }
  wait(lines: number): this {
    for (let n = 0; n < lines; n += 1) this.note({ kind: 'continued', pid: 0 });
    return this;
  }
  breaches(dead: Told[] = [], expected: Told[] = []): Breach[] {
    const lines = this.#happenings.map((one, n): Line => ({ at: n * 100, ...one }));
    return judge({ lines, subscriptions: SUBSCRIPTIONS, expected, dead, awayMs: 500 }).violations.map(
      ({ breach }) => breach,
    );
  }
}

const retried = (sequence: number, about: Partial<Told> = {}): Happening => ({
  kind: 'retried',
  ...of(sequence, about),
});
const held = { subscription: 'held' };
const loose = { subscription: 'loose' };

describe('the judge of storms takes', () => {
  it.each<[string, Record]>([
    ['retries before the next event', new Record().run(1, 'failed').run(1, 'aborted').run(1).run(2)],
    ['a dead letter that is released', new Record().run(1, 'final').run(2)],
    ['one that is retried later', new Record().run(1, 'final').run(2).note(retried(1)).run(1).run(3)],
    [
      'a held one that is retried',
      new Record().run(1, 'final', 1, held).note(retried(1, held)).run(1, 'done', 1, held),
    ],
    [
      'a held one that is dropped',
      new Record()
        .run(1, 'final', 1, held)
        .note({ kind: 'dropped', ...of(1, held) })
        .run(2, 'done', 1, held),
    ],
    ['a replay, in order', new Record().run(1).run(2).run(1, 'done', 1, { replay: true }).run(3)],
    ['events without an order', new Record().run(3, 'done', 1, loose).run(1, 'done', 1, loose)],
  ])('%s', (_what, record) => expect(record.breaches()).toEqual([]));

  it('a repeat when the process was killed in a handler, or between its end and the notice of it', () => {
    const record = new Record();
    record.begin(1);
    record.note({ kind: 'gone', pid: 1 }).run(1, 'done', 2).note({ kind: 'gone', pid: 2 }).run(1, 'done', 3).run(2);
    expect(record.breaches()).toEqual([]);
  });

  it('an overlap with a process that had been stopped for long enough', () => {
    const record = new Record();
    const ghost = record.begin(1);
    record.note({ kind: 'stopped', pid: 1 }).wait(6).run(1, 'done', 2);
    record.begin(2, 2);
    expect(record.end(ghost).breaches()).toEqual([]);
  });
});

describe('the judge of storms refuses', () => {
  const beside = new Record();
  beside.begin(1);
  beside.begin(2);
  const briefly = new Record();
  briefly.begin(1);
  briefly.note({ kind: 'stopped', pid: 1 }).wait(2).run(1, 'done', 2);
  const ahead = new Record();
  ahead.begin(1);
  ahead.note({ kind: 'stopped', pid: 1 }).wait(6).run(2, 'done', 2);

  it.each<[string, Record, Breach[]]>([
    ['two at once', beside, ['beside', 'overtaken']],
    ['an overlap with a process that was stopped only briefly', briefly, ['beside', 'repeated without reason']],
    ['a follower of one whose process is stopped', ahead, ['overtaken']],
    ['a gap', new Record().run(1).run(3), ['out of sequence']],
    ['an event that comes back', new Record().run(1).run(2).run(1), ['came back']],
    [
      'one that comes back after a kill',
      new Record().run(1).run(2, 'done', 2).note({ kind: 'gone', pid: 1 }).run(1),
      ['came back'],
    ],
    ['a repeat without a reason', new Record().run(1).run(1), ['repeated without reason']],
    ['a follower of a failed try', new Record().run(1, 'failed').run(2), ['overtaken']],
    ['a follower of a held dead letter', new Record().run(1, 'final', 1, held).run(2, 'done', 1, held), ['overtaken']],
    [
      'a replay out of order',
      new Record().run(1).run(2).run(2, 'done', 1, { replay: true }).run(1, 'done', 1, { replay: true }),
      ['came back'],
    ],
    [
      'a repeat without a reason, also without an order',
      new Record().run(1, 'done', 1, loose).run(1, 'done', 1, loose),
      ['repeated without reason'],
    ],
    [
      'an effect that ran twice',
      new Record().note({ kind: 'effect', pid: 1, ...of(1) }, { kind: 'effect', pid: 1, ...of(1) }),
      ['effect twice'],
    ],
  ])('%s', (_what, record, breaches) => expect(record.breaches()).toEqual(breaches));

  it('what is neither done nor dead nor dropped, and what is both', () => {
    const record = new Record().run(1).run(2, 'failed');
    expect(record.breaches([of(1)], [of(1), of(2), of(3)])).toEqual(['dead and done', 'lost', 'lost']);
  });
});

it('storm record: a line that a stopped process wrote late stands where its time says', () => {
  const dir = mkdtempSync(join(tmpdir(), 'changefeed-record-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const file = join(dir, 'record.jsonl');
  // Process 1 read the clock, was stopped, and wrote after process 2 had taken its event over.
  const lines: Line[] = [
    { at: 100, kind: 'stopped', pid: 1 },
    { at: 3_000, kind: 'begin', pid: 2, run: 1, attempt: 1, ...of(1) },
    { at: 3_010, kind: 'end', pid: 2, run: 1, outcome: 'done' },
    { at: 99, kind: 'begin', pid: 1, run: 1, attempt: 1, ...of(1) },
    { at: 3_500, kind: 'continued', pid: 1 },
  ];
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const given = { subscriptions: SUBSCRIPTIONS, expected: [], dead: [], awayMs: 900 };

  expect(judge({ ...given, lines: readRecord(file) }).violations).toEqual([]);
  // The control: in the order of the file, the event comes back.
  expect(judge({ ...given, lines }).violations.length).toBeGreaterThan(0);
});
