/**
 * The truth a stream of events is held against: each record's history as the journal has it, and which of its changes
 * a client of the list API could see.
 *
 * A record's history is a row of states, the one it had at the start first. A state is *visible* when a page showing it
 * was delivered whole. Between two looks any number of states may pass unseen; what changed and changed back leaves no
 * trace. So what is expected of a detector is one thing per step from a visible state to the next visible one that
 * differs from it, whatever lay between.
 *
 * Not expected: what became visible before the list had been walked once from its first page to its end (the quiet
 * baseline), and a removal after which not enough walks have begun and ended (a removal is confirmed by a second look).
 */
import type { CrmRecord } from '../../crm/record.js';
import { DRIFT_FIELDS, EXTRA_FIELDS } from '../faults/rendering.js';
import type { JournalLine, MutationLine, WalkLine } from '../journal/lines.js';
import { withVisibility } from './read.js';
import { contentText, type Equality } from './equality.js';

export interface State {
  /** What it says; null: the record is not there. */
  readonly content: string | null;
  /** When it came to be; ms, -Infinity for the first. */
  readonly since: number;
  /** When it was first shown; ms, null: never. */
  readonly visibleAt: number | null;
  /** The mutation that made it; null for the first. */
  readonly line: MutationLine | null;
}

/** A step between two visible states that a detector is to tell of. */
export interface Step {
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
  readonly steps: readonly Step[];
  /** It also changed in nothing but fields that are left out of every comparison: who tells of that is neither right nor wrong. */
  readonly changedUnjudged: boolean;
}

export interface Truth {
  readonly histories: ReadonlyMap<string, History>;
  readonly equality: Equality;
  /** Ids of what was renamed. */
  readonly renamed: ReadonlySet<string>;
}

export interface TruthOptions {
  /** Count only what became visible after this; ms. @defaultValue per list, when its first complete walk ended */
  since?: number;
  /** Count only what became visible before this; ms. @defaultValue no end */
  until?: number;
  /** How many complete walks must have begun after a removal for it to be expected. @defaultValue 2 */
  removalSweeps?: number;
}

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
  // A journal without walks was not read through a list API that we know of: everything in it counts.
  const walked = walks.length === 0 ? null : walks;
  const histories = new Map([...byRecord].map(([key, lines]) => [key, historyOf(lines, walked, equality, options)]));
  const renamed = new Set(journal.flatMap((line) => (line.line === 'rename' ? [line.id] : [])));
  return { histories, equality, renamed };
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

function stepsOf(states: readonly State[], walks: readonly WalkLine[] | null, options: TruthOptions): Step[] {
  const since = options.since ?? baselineEnd(walks);
  const steps: Step[] = [];
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

/** Of a list that was never walked to its end nothing is expected: its baseline is not complete. */
function baselineEnd(walks: readonly WalkLine[] | null): number {
  if (walks === null) return -Infinity;
  return walks.reduce((first, { endedAt }) => Math.min(first, Date.parse(endedAt)), Infinity);
}

function isConfirmed(
  gone: number,
  walks: readonly WalkLine[] | null,
  { removalSweeps: removalLooks = 2, until = Infinity }: TruthOptions,
): boolean {
  if (walks === null) return true;
  const looks = walks.filter(({ startedAt, endedAt }) => Date.parse(startedAt) >= gone && Date.parse(endedAt) <= until);
  return looks.length >= removalLooks;
}

/** What an event's image says, under the same rules as the truth. */
export function imageText(record: CrmRecord | null, { equality }: Truth): string | null {
  return contentText(record, equality);
}
