/** Turns a step into the arguments of one script, which writes all of it or nothing (lua/commit.lua). */
import { randomUUID } from 'node:crypto';
import type { ListName } from '../../crm/lists/lists.js';
import type { ChangeEvent } from '../../events/types.js';
import { UNCONFIRMED } from '../detect/removal.js';
import {
  HELD_EXAMPLES,
  type CommitResult,
  type FencingToken,
  type FinishedPages,
  type RecordWrite,
  type Step,
} from './sweep-state.js';
import { packVersioned } from './checkpoint.js';
import { type WorkspaceRedis, recordField } from '../../redis/keys.js';
import type { Clock } from '../../kit/clock.js';
import { packPast } from './history-packing.js';
import { packKeys } from './membership.js';
import { packRecord } from './packing.js';
import { rowField } from './rows.js';
import { loadScript, unexpectedAnswer, words } from '../../redis/scripts.js';
import { dayCounts, KEPT_MS } from '../../log/day-counts.js';
import { entryArguments } from '../../log/entry.js';
import { numberOfStep, type Steps } from '../../log/state-guard.js';

const script = loadScript('commit', import.meta.url);

/** The script's KEYS, and their numbers. */
const KEYS = {
  records: 1,
  log: 2,
  sweep: 3,
  lease: 4,
  due: 5,
  members: 6,
  pages: 7,
  missing: 8,
  created: 9,
  walkCursors: 10,
  walkMembers: 11,
  walkPages: 12,
  rows: 13,
  unconfirmed: 14,
  state: 15,
  history: 16,
  changed: 17,
} as const;
type KeyName = keyof typeof KEYS;
const NUMBER_OF_KEYS = Object.keys(KEYS).length;
/** A list of rows has its rows in place of the records, and the records in their place, for the time after a change. */
const OF_ROWS: Partial<Record<KeyName, KeyName>> = { records: 'rows', rows: 'records' };
/** Keys that a list of rows has no longer. */
const OF_RECORDS = ['members', 'missing', 'unconfirmed', 'created'] as const;

type Argument = string | number | Buffer;
export type KeyChange = [
  key: number,
  op: 'set' | 'incr' | 'del' | 'add' | 'expire' | 'forget' | 'move' | 'take' | 'drop',
  field: string | number,
  value: Argument,
];

/** `further`: changes of the walk as a whole, without records and events. They may be repeated. */
export type CommittedStep = Step & {
  token: FencingToken;
  further?: readonly KeyChange[];
  /** The masks of the list's rules. Absent: no history is kept of the step. */
  masks?: string;
};

/** How much of each list's history is kept. */
export interface HistoryLimits {
  keepMs: number;
  /** The newest changes. */
  changes: number;
}

export interface CommitOptions {
  /** The last step that was sent under each lease, by its token. */
  sent: Map<string, string>;
  /** The last step of each list's sweeps that is known to be stored. */
  steps: Steps;
  /** Null: no history is kept. */
  history: (HistoryLimits & { clock: Clock }) | null;
  /** In which days are counted. */
  timeZone: string;
}

type Committed = CommitResult | { outcome: 'back' | 'elsewhere' };

/** @returns `back`: Redis forgot a stored step; `elsewhere`: no epoch here yet. Either way nothing was written. */
export async function commit(
  scope: WorkspaceRedis,
  list: ListName,
  step: CommittedStep,
  { sent, steps, history, timeZone }: CommitOptions,
): Promise<Committed> {
  const { keys, workspace } = scope;
  const { token, checkpoint = null, summary = null, writes, events = [] } = step;
  const isRows = summary?.recognisedOnly === true || writes.some(({ state }) => state === null);
  const keyOf = (name: KeyName): string => keys[(isRows && OF_ROWS[name]) || name](workspace, list);
  const counts = dayCounts(eventsOf(step), { keys, workspace, timeZone });
  const touched = [...(Object.keys(KEYS) as KeyName[]).map(keyOf), ...counts.map(({ key }) => key)];
  const counted = counts.flatMap(({ added }, day) => counting(added, NUMBER_OF_KEYS + day + 1));
  const changes = [...fieldChanges(step, isRows), ...counted, ...(step.further ?? [])];
  const before = sent.get(token) ?? '';
  const sweep = keys.sweep(workspace, list);
  const stored = steps.get(sweep) ?? '';
  const id = step.further === undefined ? `${numberOfStep(before === '' ? stored : before) + 1} ${randomUUID()}` : '';
  const args = [
    ...[token, id, packVersioned(checkpoint), packVersioned(summary), summary?.completedAt ?? ''],
    ...[isRows ? 'rows' : 'records', ...historyArguments(isRows ? null : history, step.masks)],
    ...recordArguments(writes),
    ...[events.length, ...events.flatMap(entryArguments)],
    ...[changes.length, ...changes.flat()],
    ...timerArguments(writes),
    ...[before, stored],
  ];
  // Before it is done: of two steps on their way, the second comes after the first.
  if (id !== '' && sent.has(token)) sent.set(token, id);
  const result = committed(await script.run(scope.redis, touched, args));
  if (id !== '' && result.outcome === 'committed') steps.set(sweep, id);
  return result;
}

function fieldChanges(
  {
    cursors = [],
    members = null,
    page,
    missing = [],
    created = [],
    counted = {},
    schema = new Map<string, number>(),
    schemaSequences = [],
    drifted = [],
    heldExamples = [],
    summary = null,
  }: Step,
  isRows: boolean,
): KeyChange[] {
  return [
    ...cursors.map((cursor): KeyChange => [KEYS.walkCursors, 'add', cursor, '']),
    ...(members === null ? [] : [setMembers(members)]),
    ...(page === undefined ? [] : pageChanges(page, members !== null)),
    ...missing.map(([key, entry]): KeyChange =>
      entry === null ? [KEYS.missing, 'del', key, ''] : [KEYS.missing, 'set', key, JSON.stringify(entry)],
    ),
    ...(isRows ? [] : created.map((key): KeyChange => [KEYS.created, 'add', key, ''])),
    ...Object.entries(counted).flatMap(([field, by]): KeyChange[] =>
      by === 0 ? [] : [[KEYS.sweep, 'incr', field, by]],
    ),
    ...[...schema].map(([name, by]): KeyChange => [KEYS.sweep, 'incr', `schema ${name}`, by]),
    ...schemaSequences.map(([field, sequence]): KeyChange => [KEYS.sweep, 'set', `schemaEvents ${field}`, sequence]),
    ...(drifted.length === 0 ? [] : [[KEYS.sweep, 'set', 'drifted', JSON.stringify(drifted)] satisfies KeyChange]),
    ...(summary === null
      ? []
      : ['drifted', 'fresh', HELD_EXAMPLES].map((field): KeyChange => [KEYS.sweep, 'del', field, ''])),
    ...(heldExamples.length === 0
      ? []
      : [[KEYS.sweep, 'set', HELD_EXAMPLES, JSON.stringify(heldExamples)] satisfies KeyChange]),
    ...(isRows && summary !== null ? OF_RECORDS.map((key): KeyChange => [KEYS[key], 'drop', '', '']) : []),
  ];
}

function committed(answer: unknown): Committed {
  const [word, detail = ''] = words(script, answer);
  if (word === 'committed') return { outcome: 'committed', events: Number(detail) };
  if (word === 'fenced') return { outcome: 'fenced', holder: detail === '' ? null : detail };
  if (word === 'lost' || word === 'back' || word === 'elsewhere') return { outcome: word };
  throw unexpectedAnswer(script, word);
}

function eventsOf({ writes, events = [] }: Step): ChangeEvent[] {
  return [...writes.flatMap(({ event, derived = [] }) => (event === null ? [] : [event, ...derived])), ...events];
}

function counting(added: ReadonlyMap<string, number>, day: number): KeyChange[] {
  return [...[...added].map(([field, by]): KeyChange => [day, 'incr', field, by]), [day, 'expire', '', KEPT_MS]];
}

function recordArguments(writes: readonly RecordWrite[]): Argument[] {
  const flat = writes.flatMap((write): Argument[] => {
    const { key, state, event, derived = [] } = write;
    const events = event === null ? [] : [event, ...derived];
    const kept = state === null ? rowField(key) : [recordField(key), packRecord(key, state)];
    return [...kept, packedPast(write), events.length, ...events.flatMap(entryArguments)];
  });
  return [writes.length, ...flat];
}

function historyArguments(history: CommitOptions['history'], masks: string | undefined): Argument[] {
  if (history === null || masks === undefined) return ['', '', '', ''];
  return [history.clock.now(), masks, history.changes, history.keepMs];
}

function packedPast({ state, event, past }: RecordWrite): Argument {
  return state === null || past === undefined ? '' : packPast({ past, event, sequence: state.sequence });
}

function timerArguments(writes: readonly RecordWrite[]): Argument[] {
  const timers = writes.flatMap(({ key, timers = [] }) =>
    timers.map(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']),
  );
  return [timers.length, ...timers.flat()];
}

function setMembers({ page, keys }: NonNullable<Step['members']>): KeyChange {
  return [KEYS.walkMembers, 'set', page, packKeys(keys)];
}

/** A page with other members waits for a complete sweep: in an abandoned one the stored members stay, as a skip needs. */
function pageChanges({ number, stored }: NonNullable<Step['page']>, hasOtherMembers: boolean): KeyChange[] {
  const forget: KeyChange = [KEYS.pages, 'forget', number, ''];
  // The walk under way may have read the page already, and may recognise it in the next sweep.
  if (stored === null) return [forget, [KEYS.walkPages, 'forget', number, '']];
  if (!hasOtherMembers) return [[KEYS.pages, 'set', number, JSON.stringify(stored)]];
  return [forget, [KEYS.walkPages, 'set', number, JSON.stringify(stored)]];
}

/** The walk that begins now is the first that must show what shortcuts created. @param outdated fields of the sweep */
export function beginning(outdated: readonly string[]): KeyChange[] {
  return [
    [KEYS.unconfirmed, 'take', '', KEYS.created],
    ...outdated.map((name): KeyChange => [KEYS.sweep, 'del', name, '']),
  ];
}

/** @param ids seen by the abandoned sweep only. Their removal would go unnoticed otherwise */
export function abandonment(ids: readonly string[]): KeyChange[] {
  return [
    ...ids.map((id): KeyChange => [KEYS.unconfirmed, 'add', id, '']),
    [KEYS.sweep, 'del', 'checkpoint', ''],
    ...[KEYS.walkCursors, KEYS.walkMembers, KEYS.walkPages].map((key): KeyChange => [key, 'drop', '', '']),
  ];
}

/**
 * A page is in one of the hashes at any time: in neither, its members would be lost, and with them their removals. Pages to forget
 * come first: after a crash, the promoted pages no longer show which they are.
 */
export function promotion({ promote, drop, forget }: FinishedPages): KeyChange[] {
  return [
    ...forget.map((page): KeyChange => [KEYS.pages, 'forget', page, '']),
    ...promote.flatMap((page): KeyChange[] => [
      [KEYS.walkMembers, 'move', page, KEYS.members],
      [KEYS.walkPages, 'move', page, KEYS.pages],
    ]),
    ...drop.flatMap((page): KeyChange[] =>
      page === UNCONFIRMED
        ? [[KEYS.unconfirmed, 'drop', '', '']]
        : [KEYS.members, KEYS.pages].map((key) => [key, 'del', page, '']),
    ),
  ];
}
