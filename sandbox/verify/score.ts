/** Scores a stream of events against a sandbox's journal: recall, false events, order and delay. */
import { builtInLists, readyMadeLists } from '../../src/crm/lists/lists.js';
import type { JournalLine, MutationLine } from '../journal/lines.js';
import { judgeActors, type ActorCounts } from './actors.js';
import { matchClaim, type Claim, type FalseReason } from './match.js';
import { orderOf, type Order } from './order.js';
import type { JudgedEvent } from './read.js';
import { contentText } from './equality.js';
import { historyKey, truthOf, type History, type HistoryStep, type Truth, type TruthOptions } from './truth.js';

export type ChangeVerb = HistoryStep['verb'];

/** The journal, the events, and what had to be reported. */
export interface ScoreOptions extends TruthOptions {
  /** The journal of the sandbox that the events come from. */
  journal: readonly JournalLine[];
  /** In the order they arrived. */
  events: readonly JudgedEvent[];
}

export interface FoundCount {
  expected: number;
  found: number;
}

export interface MissedChange extends Pick<MutationLine, 'list' | 'id' | 'kind'> {
  verb: ChangeVerb;
  visibleAt: string;
}

export interface FalseEvent extends Pick<JudgedEvent, 'id' | 'type' | 'subject'> {
  reason: FalseReason;
}

interface Delays {
  /** ms; null without any delay. */
  p50: number | null;
  p99: number | null;
  max: number | null;
}

/** The numbers of changes found, missed and invented. */
export interface Score extends Order {
  events: number;
  /** Changes that had to be reported, and how many were. */
  expected: number;
  /** Changes that were reported. */
  found: number;
  /** `found / expected`; 1 when nothing was expected. */
  recall: number;
  /** The same by what happened. */
  byVerb: Record<ChangeVerb, FoundCount>;
  /** The same by list. */
  byList: Record<string, FoundCount>;
  /** Events that report something that did not happen. */
  falseEvents: number;
  /** Updates that differ only in the name of a renamed user, team …: neither right nor wrong, counted separately. */
  renames: number;
  /** True, but an earlier event with another id reported the same. */
  repeated: number;
  /** Not scored: snapshots of a baseline, and events derived from others (`completed`, `overdue` …). */
  unjudged: number;
  /** Edits of people and organizations that were reported, by what their events say about who made them. */
  actors: ActorCounts;
  /** ms from the change to `observedAt`. */
  delay: Delays;
  /** The same from the moment it was first visible. */
  delaySinceVisible: Delays;
  /** Changes that no event reports. */
  missed: MissedChange[];
  /** Events that no change explains. */
  inventions: FalseEvent[];
}

/** The most missed changes and false events that are listed. */
const EXAMPLES = 20;

/** Compares events with the journal of the sandbox. */
export function scoreEvents({ journal, events, ...options }: ScoreOptions): Score {
  const truth = truthOf(journal, options);
  const { distinct, ...order } = orderOf(events);
  const tally = new Tally(truth);
  for (const event of distinct) tally.add(event);
  const steps = [...truth.histories.values()].flatMap((history) => history.steps);
  const foundSteps = steps.filter((step) => tally.found.has(step));
  const missed = steps.filter((step) => !tally.found.has(step));
  const count = (fits: (step: HistoryStep) => boolean): FoundCount => ({
    expected: steps.filter(fits).length,
    found: foundSteps.filter(fits).length,
  });
  const ofVerb = (verb: ChangeVerb): FoundCount => count((step) => step.verb === verb);
  const delays = (fromMs: (step: HistoryStep) => number): Delays =>
    delaysOf(foundSteps.map((step) => (tally.found.get(step) ?? NaN) - fromMs(step)));
  const lists = [...new Set(steps.map(({ line }) => line.list))];
  return {
    events: events.length,
    expected: steps.length,
    found: foundSteps.length,
    recall: steps.length === 0 ? 1 : foundSteps.length / steps.length,
    byVerb: { created: ofVerb('created'), updated: ofVerb('updated'), deleted: ofVerb('deleted') },
    byList: Object.fromEntries(lists.map((list) => [list, count(({ line }) => line.list === list)])),
    falseEvents: tally.inventions.length,
    renames: tally.renames,
    repeated: tally.repeated,
    unjudged: tally.unjudged,
    actors: tally.actors,
    ...order,
    delay: delays(({ since }) => since),
    delaySinceVisible: delays(({ visibleAt }) => visibleAt),
    missed: missed.slice(0, EXAMPLES).map(missedOf),
    inventions: tally.inventions.slice(0, EXAMPLES),
  };
}

/** Counts events in order, and keeps for each record the state that was reported last. */
class Tally {
  readonly #truth: Truth;
  readonly #reported = new Map<string, number>();
  /** When the event that reports a step was observed, ms. */
  readonly found = new Map<HistoryStep, number>();
  readonly inventions: FalseEvent[] = [];
  renames = 0;
  repeated = 0;
  unjudged = 0;
  readonly actors: ActorCounts = { right: 0, wrong: 0, missing: 0 };

  constructor(truth: Truth) {
    this.#truth = truth;
  }

  add(event: JudgedEvent): void {
    const claim = claimOf(event, this.#truth);
    if (claim === null) {
      this.unjudged++;
      return;
    }
    const key = historyKey(listOf(event), event.subject);
    const history = this.#truth.histories.get(key);
    if (this.#isRename(event, claim)) this.renames++;
    else if (history === undefined)
      this.#invented(event, claim.before === claim.after ? 'nothing-changed' : 'unknown-record');
    else this.#judge(event, claim, key, history);
  }

  #judge(event: JudgedEvent, claim: Claim, key: string, history: History): void {
    const match = matchClaim(history, claim, this.#reported.get(key) ?? 0);
    if (match.outcome === 'false' && match.reason === 'nothing-changed' && history.changedUnjudged) this.unjudged++;
    else if (match.outcome === 'false') this.#invented(event, match.reason);
    else if (match.outcome === 'repeated') this.repeated++;
    else {
      this.#reported.set(key, match.to);
      const lines = history.states.slice(match.from + 1, match.to + 1).flatMap(({ line }) => line ?? []);
      const judgement = judgeActors(event, lines);
      if (judgement !== null) this.actors[judgement]++;
      for (const step of history.steps) {
        if (step.to > match.from && step.to <= match.to) this.found.set(step, claim.observedAt);
      }
    }
  }

  #invented({ id, type, subject }: JudgedEvent, reason: FalseReason): void {
    this.inventions.push({ id, type, subject, reason });
  }

  #isRename({ data: { before, after } }: JudgedEvent, claim: Claim): boolean {
    if (claim.before !== claim.after || !this.#truth.hasRenames) return false;
    const named = { ...this.#truth.equality, refNames: 'compared' } as const;
    return contentText(before, named) !== contentText(after, named);
  }
}

/** In event types, a further list's object is its name. */
function listOf({ type }: JudgedEvent): string {
  const object = type.split('.')[1] ?? '';
  return (builtInLists.byObject(object) ?? readyMadeLists.byObject(object))?.name ?? object;
}

/** Null for an event that does not report a change of a record. */
function claimOf({ type, data }: JudgedEvent, { equality }: Truth): Claim | null {
  const [crm, , verb] = type.split('.');
  if (crm !== 'crm') return null;
  if (verb !== 'created' && verb !== 'updated' && verb !== 'deleted') return null;
  const [before, after] = [contentText(data.before, equality), contentText(data.after, equality)];
  const noImage = before === null && verb !== 'created';
  return { verb, before: noImage ? undefined : before, after, observedAt: Date.parse(data.observedAt) };
}

function missedOf({ line, verb, visibleAt }: HistoryStep): MissedChange {
  return { list: line.list, id: line.id, verb, kind: line.kind, visibleAt: new Date(visibleAt).toISOString() };
}

/** Percentiles by the nearest rank: each is a delay that occurred. */
function delaysOf(delays: readonly number[]): Delays {
  const sorted = [...delays].sort((a, b) => a - b);
  const rank = (share: number): number | null => sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? null;
  return { p50: rank(0.5), p99: rank(0.99), max: rank(1) };
}
