/**
 * The expected changes, from the journal: the history of each record, and which of its changes a client could see.
 *
 * A history is a list of states; the first is the state at the start. A state is *visible* when a page with it was
 * delivered completely. Any number of states may pass between two reads of a page, and a change that is undone in
 * between leaves no trace. So a detector is expected to report one step from each visible state to the next visible
 * state that differs from it, whatever happened between them.
 *
 * Not expected: a change that became visible before the list had been walked once from its first page to its end (the
 * quiet baseline), and a removal without enough complete walks and time after it (a second sweep must confirm a removal).
 */
import { DRIFT_FIELDS, EXTRA_FIELDS } from '../faults/rendering.js';
import type { JournalLine, MutationLine, WalkLine } from '../journal/lines.js';
import { withVisibility } from './read.js';
import { contentText, type Equality } from './equality.js';

export interface State {
  /** The record's content; null: it does not exist. */
  readonly content: string | null;
  /** When it began; ms, -Infinity for the first. */
  readonly since: number;
  /** When it was first shown; ms, null: never. */
  readonly visibleAt: number | null;
  /** The mutation that led to it; null for the first. */
  readonly line: MutationLine | null;
}

/** A step between two visible states that a detector must report. */
export interface HistoryStep {
  /** Index of the state it leads to. */
  readonly to: number;
  readonly verb: 'created' | 'updated' | 'deleted';
  readonly line: MutationLine;
  readonly since: number;
  readonly visibleAt: number;
}

export interface History {
  readonly list: string;
  readonly id: string;
  readonly states: readonly State[];
  readonly steps: readonly HistoryStep[];
  /** It also changed in fields that are not compared. An event about such a change is neither right nor wrong. */
  readonly changedUnjudged: boolean;
}

export interface Truth {
  readonly histories: ReadonlyMap<string, History>;
  readonly equality: Equality;
  /** Whether a user, team, form … was renamed. */
  readonly hasRenames: boolean;
}

export interface TruthOptions {
  /** Count only what became visible after this; ms. @defaultValue per list, when its first complete walk ended */
  since?: number;
  /** Count only what became visible before this; ms. @defaultValue no end */
  until?: number;
  /** A removal is expected when complete walks without the record end at least so far apart; ms. @defaultValue REMOVAL_AFTER_MS */
  removalAfterMs?: number;
}

/** How many complete walks must begin after a removal before it is expected. */
const REMOVAL_WALKS = 2;
/** The default of `removals.after`, and some time to spare. */
const REMOVAL_AFTER_MS = 35_000;

export const historyKey = (list: string, id: string): string => `${list} ${id}`;

export function truthOf(journal: readonly JournalLine[], options: TruthOptions = {}): Truth {
  const switched = (rule: string): boolean => journal.some((line) => line.line === 'rules' && rule in line.rules);
  const ignore = [...(switched('drift') ? DRIFT_FIELDS : []), ...(switched('extras') ? EXTRA_FIELDS : [])];
  const equality: Equality = { ignore: new Set(ignore), refNames: 'ignored' };
  const walks = journal.filter((line): line is WalkLine => line.line === 'walk');
  const byRecord = new Map<string, MutationLine[]>();
  for (const line of withVisibility(journal)) {
    const key = historyKey(line.list, line.id);
    const lines = byRecord.get(key) ?? [];
    lines.push(line);
    byRecord.set(key, lines);
  }
  // Without walks nothing is known about how the lists were read: every change counts.
  const walked = walks.length === 0 ? null : walks;
  const histories = new Map([...byRecord].map(([key, lines]) => [key, historyOf(lines, walked, equality, options)]));
  const hasRenames = journal.some(({ line }) => line === 'rename');
  return { histories, equality, hasRenames };
}

function historyOf(
  lines: readonly MutationLine[],
  walks: readonly WalkLine[] | null,
  equality: Equality,
  options: TruthOptions,
): History {
  const first = lines[0] as MutationLine;
  const states: State[] = [
    { content: contentText(first.before, equality), since: -Infinity, visibleAt: -Infinity, line: null },
  ];
  for (const line of lines) {
    const visibleAt = line.visibleAt === null ? null : Date.parse(line.visibleAt);
    states.push({ content: contentText(line.after, equality), since: Date.parse(line.at), visibleAt, line });
  }
  const ofList = walks?.filter(({ list }) => list === first.list) ?? null;
  const changedUnjudged = lines.some((line) => changedOutside(line, equality));
  return { list: first.list, id: first.id, states, steps: stepsOf(states, ofList, options), changedUnjudged };
}

function changedOutside({ before, after }: MutationLine, equality: Equality): boolean {
  const all = { ...equality, ignore: new Set<string>() };
  return (
    contentText(before, equality) === contentText(after, equality) &&
    contentText(before, all) !== contentText(after, all)
  );
}

function stepsOf(states: readonly State[], walks: readonly WalkLine[] | null, options: TruthOptions): HistoryStep[] {
  const since = options.since ?? baselineEnd(walks);
  const steps: HistoryStep[] = [];
  let last = states[0]?.content ?? null;
  states.forEach(({ content: now, since: from, visibleAt, line }, to) => {
    if (line === null || visibleAt === null || now === last) return;
    const verb = last === null ? 'created' : now === null ? 'deleted' : 'updated';
    last = now;
    const inTime = visibleAt > since && visibleAt <= (options.until ?? Infinity);
    if (!inTime || (verb === 'deleted' && !isConfirmed(from, walks, options))) return;
    steps.push({ to, verb, line, since: from, visibleAt });
  });
  return steps;
}

/** Infinity for a list that was never walked to its end: its baseline is incomplete, so nothing is expected. */
function baselineEnd(walks: readonly WalkLine[] | null): number {
  if (walks === null) return -Infinity;
  return walks.reduce((first, { endedAt }) => Math.min(first, Date.parse(endedAt)), Infinity);
}

function isConfirmed(
  gone: number,
  walks: readonly WalkLine[] | null,
  { until = Infinity, removalAfterMs = REMOVAL_AFTER_MS }: TruthOptions,
): boolean {
  if (walks === null) return true;
  const confirming = walks.filter(
    ({ startedAt, endedAt }) => Date.parse(startedAt) >= gone && Date.parse(endedAt) <= until,
  );
  const ends = confirming.map(({ endedAt }) => Date.parse(endedAt)).sort((one, other) => one - other);
  return ends.length >= REMOVAL_WALKS && (ends.at(-1) ?? 0) - (ends[0] ?? 0) >= removalAfterMs;
}
