/**
 * Checks the journal of a storm. Pure.
 *
 * The runs of one record in one subscription form a sequence of *lives*. A life is all runs of one event from its first begin
 * until it is done, or until it is a dead letter that was released or dropped. `order: 'record'` guarantees:
 *   - first lives begin in the order of the log, each once;
 *   - lives do not overlap: between two runs of a life there is no run of another event;
 *   - after its life, an event runs again only as a retried dead letter or in a replay (a life of its own, in log order
 *     among the replayed events);
 *   - runs do not overlap, and within a life a run follows another only for a reason: the earlier one failed, its signal was
 *     aborted, its process was killed, or its process was away for so long that its lock expired.
 * Only the last reason allows a run to overlap its successor: a process that was stopped inside a handler continues there
 * until it learns that it lost the event. Such a run is a *stale run*. Its process must have been away for at least half the
 * lock time (locks are renewed at half time) before the successor begins, and the successor must be a run of the same event.
 */
import type { Line, Outcome, StormEvent } from './journal.js';
import type { StormSubscription } from './plan.js';

export interface StormFacts {
  lines: readonly Line[];
  subscriptions: readonly StormSubscription[];
  expected: readonly StormEvent[];
  dead: readonly StormEvent[];
  /** How long a process must have been away at least before its events may be taken over. */
  awayMs: number;
}

export type ViolationKind =
  | 'overlap'
  | 'overtaken'
  | 'out of sequence'
  | 'came back'
  | 'repeated without reason'
  | 'lost'
  | 'dead and done'
  | 'effect twice';

export interface Violation {
  kind: ViolationKind;
  subscription: string;
  record: string;
  detail: string;
}

export interface CheckResult {
  violations: Violation[];
  runs: number;
  repeats: number;
  staleRuns: number;
  deaths: number;
}

interface Run extends StormEvent {
  pid: number;
  beganAt: number;
  endedAt: number | null;
  outcome: Outcome | null;
}

interface Life {
  key: string;
  last: Run;
}

/** The ordering group: one record in one subscription; without an order, one event. */
interface Group {
  open: Set<Run>;
  life: Life | null;
  first: number;
  replayed: number;
  dead: Set<string>;
  retried: Set<string>;
  dropped: Set<string>;
}

export function checkStorm(facts: StormFacts): CheckResult {
  const absences = absencesOf(facts.lines);
  const checker = new Checker(facts, (run, until) => absences.some((one) => wasAway(one, run, until, facts.awayMs)));
  for (const line of facts.lines) checker.read(line);
  return checker.result();
}

interface Absence {
  pid: number;
  from: number;
  until: number;
  killed: boolean;
}

function absencesOf(lines: readonly Line[]): Absence[] {
  const absences: Absence[] = [];
  const stopped = new Map<number, Absence>();
  for (const line of lines) {
    if (line.kind === 'starved') absences.push({ pid: line.pid, from: line.sinceMs, until: line.at, killed: false });
    if (line.kind === 'killed') absences.push({ pid: line.pid, from: line.at, until: Infinity, killed: true });
    if (line.kind === 'stopped') {
      const absence = { pid: line.pid, from: line.at, until: Infinity, killed: false };
      stopped.set(line.pid, absence);
      absences.push(absence);
    }
    const ended = line.kind === 'continued' ? stopped.get(line.pid) : undefined;
    if (ended !== undefined) ended.until = line.at;
  }
  return absences;
}

function wasAway({ pid, from, until, killed }: Absence, run: Run, then: number, awayMs: number): boolean {
  if (pid !== run.pid || from > then || until < run.beganAt) return false;
  return killed || Math.min(until, then) - from >= awayMs;
}

class Checker {
  readonly #facts: StormFacts;
  readonly #away: (run: Run, until: number) => boolean;
  readonly #groups = new Map<string, Group>();
  readonly #runs = new Map<string, Run>();
  readonly #stale = new Set<Run>();
  readonly #done = new Set<string>();
  readonly #last = new Map<string, Run>();
  readonly #dropped = new Set<string>();
  readonly #effects = new Map<string, number>();
  readonly #violations: Violation[] = [];
  #repeats = 0;
  #deaths = 0;

  constructor(facts: StormFacts, away: (run: Run, until: number) => boolean) {
    this.#facts = facts;
    this.#away = away;
  }

  read(line: Line): void {
    if (line.kind === 'begin') this.#begin(line, line.pid, line);
    if (line.kind === 'end') this.#end(line);
    if (line.kind === 'retried') this.#groupOf(line).retried.add(keyOf(line));
    if (line.kind === 'dropped') {
      this.#groupOf(line).dropped.add(keyOf(line));
      this.#dropped.add(nameOf(line));
    }
    if (line.kind === 'effect') this.#effect(line);
  }

  result(): CheckResult {
    this.#checkComplete();
    const { size: runs } = this.#runs;
    const { size: staleRuns } = this.#stale;
    return { violations: this.#violations, runs, repeats: this.#repeats, staleRuns, deaths: this.#deaths };
  }

  #begin(
    { subscription, record, sequence, replay, at }: StormEvent & { at: number },
    pid: number,
    line: { run: number },
  ): void {
    const run: Run = { subscription, record, sequence, replay, pid, beganAt: at, endedAt: null, outcome: null };
    const group = this.#groupOf(run);
    for (const other of group.open) {
      if (this.#away(other, at)) this.#stale.add(other);
      else this.#report('overlap', run, `while ${textOf(other)} was running`);
    }
    const { life } = group;
    const key = keyOf(run);
    if (life?.key === key) this.#continueLife(run, group, life);
    else this.#startLife(run, group);
    group.life = { key, last: run };
    group.open.add(run);
    this.#runs.set(`${pid}/${line.run}`, run);
    this.#last.set(nameOf(run), run);
  }

  #continueLife(run: Run, group: Group, { key, last }: Life): void {
    this.#repeats += 1;
    if (last.outcome === 'failed' || last.outcome === 'aborted') return;
    if (last.outcome === 'final' && group.retried.delete(key)) return;
    if (!this.#away(last, run.beganAt)) {
      this.#report('repeated without reason', run, `after ${textOf(last)}, whose process was never away`);
    }
  }

  #startLife(run: Run, group: Group): void {
    const key = keyOf(run);
    if (group.life !== null && !this.#isOver(group.life, group)) {
      this.#report('overtaken', run, `before ${textOf(group.life.last)} was over`);
    }
    if (group.dead.has(key) && group.retried.delete(key)) {
      group.dead.delete(key);
      return;
    }
    const furthest = run.replay ? group.replayed : group.first;
    if (run.sequence <= furthest && this.#isOrdered(run)) {
      this.#report('came back', run, `after ${run.replay ? 'replayed ' : ''}${furthest} had begun`);
    } else if (!run.replay && run.sequence !== furthest + 1 && this.#isOrdered(run)) {
      this.#report('out of sequence', run, `after ${furthest}`);
    } else if (!this.#isOrdered(run) && this.#last.has(nameOf(run))) {
      this.#report('came back', run, '');
    }
    if (run.replay) group.replayed = Math.max(furthest, run.sequence);
    else group.first = Math.max(furthest, run.sequence);
  }

  #isOver({ key, last }: Life, group: Group): boolean {
    if (last.outcome === 'done') return true;
    if (last.outcome !== 'final') return false;
    return this.#subscription(last).whenDead === 'release' || group.dropped.has(key);
  }

  #end({ pid, run: number, outcome, at }: { pid: number; run: number; outcome: Outcome; at: number }): void {
    const run = this.#runs.get(`${pid}/${number}`);
    if (run === undefined) return;
    const group = this.#groupOf(run);
    group.open.delete(run);
    run.outcome = outcome;
    run.endedAt = at;
    if (outcome === 'done') this.#done.add(nameOf(run));
    // The final failure of a stale run does not count; its successor decides.
    if (outcome !== 'final' || group.life?.last !== run) return;
    this.#deaths += 1;
    group.dead.add(keyOf(run));
  }

  #effect(line: StormEvent): void {
    // A replay sends the same event.
    const name = nameOf({ ...line, replay: false });
    const times = (this.#effects.get(name) ?? 0) + 1;
    this.#effects.set(name, times);
    if (times > 1) this.#report('effect twice', line, `${times} times`);
  }

  #checkComplete(): void {
    const dead = new Set(this.#facts.dead.map(nameOf));
    for (const event of this.#facts.expected) {
      const name = nameOf(event);
      const last = this.#last.get(name);
      if (dead.has(name)) {
        if (last?.outcome !== 'final') this.#report('dead and done', event, '');
      } else if (!this.#done.has(name) && !this.#dropped.has(name)) {
        this.#report('lost', event, last === undefined ? 'it never began' : `its last run was ${textOf(last)}`);
      }
    }
  }

  #groupOf(event: StormEvent): Group {
    const name = this.#isOrdered(event) ? `${event.subscription} ${event.record}` : nameOf(event);
    let group = this.#groups.get(name);
    if (group === undefined) {
      const sets = { dead: new Set<string>(), retried: new Set<string>(), dropped: new Set<string>() };
      group = { open: new Set(), life: null, first: 0, replayed: 0, ...sets };
      this.#groups.set(name, group);
    }
    return group;
  }

  #isOrdered(event: StormEvent): boolean {
    return this.#subscription(event).order === 'record';
  }

  #subscription({ subscription }: StormEvent): StormSubscription {
    return this.#facts.subscriptions.find(({ name }) => name === subscription)!;
  }

  #report(kind: ViolationKind, event: StormEvent, detail: string): void {
    const { subscription, record } = event;
    const at = 'beganAt' in event ? ` at ${String(event.beganAt)}` : '';
    this.#violations.push({ kind, subscription, record, detail: `${textOf(event)}${at}: ${detail}` });
  }
}

function keyOf({ sequence, replay }: StormEvent): string {
  return replay ? `${sequence} replayed` : String(sequence);
}

function nameOf(event: StormEvent): string {
  return `${event.subscription} ${event.record} ${keyOf(event)}`;
}

function textOf(event: StormEvent): string {
  const { pid, outcome } = event as Partial<Run>;
  return `${keyOf(event)}${outcome == null ? '' : ` (${outcome})`}${pid === undefined ? '' : ` in ${pid}`}`;
}
