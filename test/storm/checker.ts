/**
 * Judges a storm from what its handlers wrote down. Pure.
 *
 * What one record went through in one subscription is a sequence of *lives*. A life is all runs of one event from its
 * first begin until it is done, or given up and released or dropped; `order: 'record'` promises of them:
 *   - first lives begin in the order of the log, each once;
 *   - lives do not mingle: between two runs of a life there is no run of another event;
 *   - an event comes back after its life only as a dead letter that somebody retried, or in a replay (a life of its own,
 *     in the order of the log among the replayed);
 *   - runs do not overlap, and within a life one run follows another only for a reason: it failed; its signal was aborted;
 *     its process was killed; or its process was away for so long that its lock ran out.
 * The last reason is the only one by which a run can overlap its successors: a process that was stopped in the middle of
 * a handler goes on there until it learns that it lost the event. Such a run is a *ghost*; it must have been away for at
 * least half a lock (renewed at half time) before the successor begins, and its successor must be of the same event.
 */
import type { Line, Outcome, Told } from './journal.js';
import type { StormSubscription } from './plan.js';

export interface Case {
  lines: readonly Line[];
  subscriptions: readonly StormSubscription[];
  /** What each subscription must have handled, or have among its dead letters. */
  expected: readonly Told[];
  /** Dead letters at the end. */
  dead: readonly Told[];
  /** How long a process must at least have been away for its events to be taken over. */
  awayMs: number;
}

export type Breach =
  | 'beside'
  | 'overtaken'
  | 'out of sequence'
  | 'came back'
  | 'repeated without reason'
  | 'lost'
  | 'dead and done'
  | 'effect twice';

export interface Violation {
  breach: Breach;
  subscription: string;
  record: string;
  detail: string;
}

export interface Verdict {
  violations: Violation[];
  runs: number;
  repeats: number;
  /** Runs that went on beside a successor, after their process had been stopped. */
  ghosts: number;
  deaths: number;
}

interface Run extends Told {
  pid: number;
  beganAt: number;
  endedAt: number | null;
  outcome: Outcome | null;
}

interface Life {
  key: string;
  last: Run;
}

/** One record in one subscription; one event, where there is no order. */
interface Lane {
  open: Set<Run>;
  life: Life | null;
  first: number;
  replayed: number;
  dead: Set<string>;
  retried: Set<string>;
  dropped: Set<string>;
}

export function judge(given: Case): Verdict {
  const absences = absencesOf(given.lines);
  const court = new Court(given, (run, until) => absences.some((one) => wasAway(one, run, until, given.awayMs)));
  for (const line of given.lines) court.hear(line);
  return court.verdict();
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
    if (line.kind === 'slept') absences.push({ pid: line.pid, from: line.sinceMs, until: line.at, killed: false });
    if (line.kind === 'gone') absences.push({ pid: line.pid, from: line.at, until: Infinity, killed: true });
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

/** Killed between the run's begin and then, or away for long enough between the two. */
function wasAway({ pid, from, until, killed }: Absence, run: Run, then: number, awayMs: number): boolean {
  if (pid !== run.pid || from > then || until < run.beganAt) return false;
  return killed || Math.min(until, then) - from >= awayMs;
}

class Court {
  readonly #given: Case;
  readonly #away: (run: Run, until: number) => boolean;
  readonly #lanes = new Map<string, Lane>();
  readonly #runs = new Map<string, Run>();
  readonly #ghosts = new Set<Run>();
  readonly #done = new Set<string>();
  readonly #last = new Map<string, Run>();
  readonly #dropped = new Set<string>();
  readonly #effects = new Map<string, number>();
  readonly #violations: Violation[] = [];
  #repeats = 0;
  #deaths = 0;

  constructor(given: Case, away: (run: Run, until: number) => boolean) {
    this.#given = given;
    this.#away = away;
  }

  hear(line: Line): void {
    if (line.kind === 'begin') this.#begin(line, line.pid, line);
    if (line.kind === 'end') this.#end(line);
    if (line.kind === 'retried') this.#laneOf(line).retried.add(keyOf(line));
    if (line.kind === 'dropped') {
      this.#laneOf(line).dropped.add(keyOf(line));
      this.#dropped.add(nameOf(line));
    }
    if (line.kind === 'effect') this.#effect(line);
  }

  verdict(): Verdict {
    this.#checkComplete();
    const { size: runs } = this.#runs;
    const { size: ghosts } = this.#ghosts;
    return { violations: this.#violations, runs, repeats: this.#repeats, ghosts, deaths: this.#deaths };
  }

  #begin(
    { subscription, record, sequence, replay, at }: Told & { at: number },
    pid: number,
    line: { run: number },
  ): void {
    const run: Run = { subscription, record, sequence, replay, pid, beganAt: at, endedAt: null, outcome: null };
    const lane = this.#laneOf(run);
    for (const other of lane.open) {
      if (this.#away(other, at)) this.#ghosts.add(other);
      else this.#accuse('beside', run, `while ${told(other)} was running`);
    }
    const { life } = lane;
    const key = keyOf(run);
    if (life?.key === key) this.#again(run, lane, life);
    else this.#anew(run, lane);
    lane.life = { key, last: run };
    lane.open.add(run);
    this.#runs.set(`${pid}/${line.run}`, run);
    this.#last.set(nameOf(run), run);
  }

  /** One more run of the same event. */
  #again(run: Run, lane: Lane, { key, last }: Life): void {
    this.#repeats += 1;
    if (last.outcome === 'failed' || last.outcome === 'aborted') return;
    if (last.outcome === 'final' && lane.retried.delete(key)) return;
    if (!this.#away(last, run.beganAt)) {
      this.#accuse('repeated without reason', run, `after ${told(last)}, whose process was there throughout`);
    }
  }

  /** The first run of an event, or one that comes back. */
  #anew(run: Run, lane: Lane): void {
    const key = keyOf(run);
    if (lane.life !== null && !this.#isOver(lane.life, lane)) {
      this.#accuse('overtaken', run, `before ${told(lane.life.last)} was over`);
    }
    if (lane.dead.has(key) && lane.retried.delete(key)) {
      lane.dead.delete(key);
      return;
    }
    const furthest = run.replay ? lane.replayed : lane.first;
    if (run.sequence <= furthest && this.#isOrdered(run)) {
      this.#accuse('came back', run, `after ${run.replay ? 'replayed ' : ''}${furthest} had begun`);
    } else if (!run.replay && run.sequence !== furthest + 1 && this.#isOrdered(run)) {
      this.#accuse('out of sequence', run, `after ${furthest}`);
    } else if (!this.#isOrdered(run) && this.#last.has(nameOf(run))) {
      this.#accuse('came back', run, '');
    }
    if (run.replay) lane.replayed = Math.max(furthest, run.sequence);
    else lane.first = Math.max(furthest, run.sequence);
  }

  #isOver({ key, last }: Life, lane: Lane): boolean {
    if (last.outcome === 'done') return true;
    if (last.outcome !== 'final') return false;
    return this.#subscription(last).whenDead === 'release' || lane.dropped.has(key);
  }

  #end({ pid, run: number, outcome, at }: { pid: number; run: number; outcome: Outcome; at: number }): void {
    const run = this.#runs.get(`${pid}/${number}`);
    if (run === undefined) return;
    const lane = this.#laneOf(run);
    lane.open.delete(run);
    run.outcome = outcome;
    run.endedAt = at;
    if (outcome === 'done') this.#done.add(nameOf(run));
    // What a ghost gave up, its successor decides.
    if (outcome !== 'final' || lane.life?.last !== run) return;
    this.#deaths += 1;
    lane.dead.add(keyOf(run));
  }

  #effect(line: Told): void {
    // A replay is the same event.
    const name = nameOf({ ...line, replay: false });
    const times = (this.#effects.get(name) ?? 0) + 1;
    this.#effects.set(name, times);
    if (times > 1) this.#accuse('effect twice', line, `${times} times`);
  }

  #checkComplete(): void {
    const dead = new Set(this.#given.dead.map(nameOf));
    for (const event of this.#given.expected) {
      const name = nameOf(event);
      const last = this.#last.get(name);
      if (dead.has(name)) {
        if (last?.outcome !== 'final') this.#accuse('dead and done', event, '');
      } else if (!this.#done.has(name) && !this.#dropped.has(name)) {
        this.#accuse('lost', event, last === undefined ? 'it never began' : `last seen ${told(last)}`);
      }
    }
  }

  #laneOf(told: Told): Lane {
    const name = this.#isOrdered(told) ? `${told.subscription} ${told.record}` : nameOf(told);
    let lane = this.#lanes.get(name);
    if (lane === undefined) {
      const sets = { dead: new Set<string>(), retried: new Set<string>(), dropped: new Set<string>() };
      lane = { open: new Set(), life: null, first: 0, replayed: 0, ...sets };
      this.#lanes.set(name, lane);
    }
    return lane;
  }

  #isOrdered(told: Told): boolean {
    return this.#subscription(told).order === 'record';
  }

  #subscription({ subscription }: Told): StormSubscription {
    return this.#given.subscriptions.find(({ name }) => name === subscription)!;
  }

  #accuse(breach: Breach, about: Told, detail: string): void {
    const { subscription, record } = about;
    const at = 'beganAt' in about ? ` at ${String(about.beganAt)}` : '';
    this.#violations.push({ breach, subscription, record, detail: `${told(about)}${at}: ${detail}` });
  }
}

function keyOf({ sequence, replay }: Told): string {
  return replay ? `${sequence} again` : String(sequence);
}

function nameOf(about: Told): string {
  return `${about.subscription} ${about.record} ${keyOf(about)}`;
}

function told(about: Told): string {
  const { pid, outcome } = about as Partial<Run>;
  return `${keyOf(about)}${outcome == null ? '' : ` (${outcome})`}${pid === undefined ? '' : ` in ${pid}`}`;
}
