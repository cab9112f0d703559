/** What a step writes, as the arguments of one script: all of it or nothing (lua/commit.lua). */
import { randomUUID } from 'node:crypto';
import type { ListName } from '../../crm/lists/lists.js';
import { UNCONFIRMED } from '../detect/removal.js';
import type { CommitResult, FinishedPages, RecordWrite, Step } from './sweep-state.js';
import { packVersioned } from './checkpoint.js';
import { type WorkspaceRedis, recordField } from '../../redis/keys.js';
import { packKeys } from './membership.js';
import { packRecord } from './packing.js';
import { rowField } from './rows.js';
import { loadScript, unexpectedAnswer, words } from '../../redis/scripts.js';
import { numberOfStep, type Steps } from '../../log/state-guard.js';

const script = loadScript('commit', import.meta.url);

/** The script's KEYS whose fields a step changes, by their numbers. */
const SWEEP = 3;
const MEMBERS = 6;
const PAGES = 7;
const MISSING = 8;
const CREATED = 9;
const WALK_CURSORS = 10;
const WALK_MEMBERS = 11;
const WALK_PAGES = 12;
const UNCONFIRMED_IDS = 14;

type Argument = string | number | Buffer;
type FieldChange = [
  key: number,
  op: 'set' | 'incr' | 'del' | 'add' | 'forget' | 'move' | 'take' | 'drop',
  field: string | number,
  value: Argument,
];

/** `further`: changes of the walk as a whole, without records and events. They may be repeated. */
export type CommittedStep = Step & { further?: readonly FieldChange[] };

export interface CommitOptions {
  /** By the token of a lease, the last step that was sent under it. */
  sent: Map<string, string>;
  /** Of each list, the last step that is known to be stored. */
  steps: Steps;
}

type Committed = CommitResult | { outcome: 'back' | 'elsewhere' };

/** @returns `back`: Redis forgot a stored step; `elsewhere`: no epoch here yet. Either way nothing was written. */
export async function commit(
  scope: WorkspaceRedis,
  list: ListName,
  step: CommittedStep,
  { sent, steps }: CommitOptions,
): Promise<Committed> {
  const { keys, workspace } = scope;
  const { token, checkpoint = null, summary = null, writes, events = [] } = step;
  const isRows = summary?.recognisedOnly === true || writes.some(({ state }) => state === null);
  const kept = isRows ? [keys.rows, keys.records] : [keys.records, keys.rows];
  const [own = '', other = ''] = kept.map((key) => key(workspace, list));
  const ofList = [keys.members, keys.pages, keys.missing, keys.created];
  const ofWalk = [keys.walkCursors, keys.walkMembers, keys.walkPages];
  const touched = [
    ...[own, keys.log(workspace)],
    ...[keys.sweep(workspace, list), keys.lease(workspace, list), keys.due(workspace)],
    ...[...ofList, ...ofWalk].map((key) => key(workspace, list)),
    ...[other, keys.unconfirmed(workspace, list), keys.state(workspace)],
  ];
  const changes = [...fieldChanges(step, isRows), ...(step.further ?? [])];
  const before = sent.get(token) ?? '';
  const stored = steps.get(list) ?? '';
  const id = step.further === undefined ? `${numberOfStep(before === '' ? stored : before) + 1} ${randomUUID()}` : '';
  const args = [
    ...[token, id, packVersioned(checkpoint), packVersioned(summary), summary?.completedAt ?? ''],
    ...[isRows ? 'rows' : 'records', ...recordArguments(writes)],
    ...[events.length, ...events.map((event) => JSON.stringify(event))],
    ...[changes.length, ...changes.flat()],
    ...timerArguments(writes),
    ...[before, stored],
  ];
  // Before it is done: of two steps on their way, the second comes after the first.
  if (id !== '' && sent.has(token)) sent.set(token, id);
  const result = committed(await script.run(scope.redis, touched, args));
  if (id !== '' && result.outcome === 'committed') steps.set(list, id);
  return result;
}

function fieldChanges(
  {
    cursors = [],
    members = null,
    page,
    missing = [],
    created = [],
    schema = new Map<string, number>(),
    schemaSequences = [],
  }: Step,
  isRows: boolean,
): FieldChange[] {
  const isNew = (key: string): FieldChange => (isRows ? [SWEEP, 'incr', 'createdRows', 1] : [CREATED, 'add', key, '']);
  return [
    ...cursors.map((cursor): FieldChange => [WALK_CURSORS, 'add', cursor, '']),
    ...(members === null ? [] : [setMembers(members)]),
    ...(page === undefined ? [] : pageChanges(page, members !== null)),
    ...missing.map(([key, entry]): FieldChange =>
      entry === null ? [MISSING, 'del', key, ''] : [MISSING, 'set', key, JSON.stringify(entry)],
    ),
    ...created.map(isNew),
    ...[...schema].map(([name, by]): FieldChange => [SWEEP, 'incr', `schema ${name}`, by]),
    ...schemaSequences.map(([field, sequence]): FieldChange => [SWEEP, 'set', `schemaEvents ${field}`, sequence]),
  ];
}

function committed(answer: unknown): Committed {
  const [word, detail = ''] = words(script, answer);
  if (word === 'committed') return { outcome: 'committed', events: Number(detail) };
  if (word === 'fenced') return { outcome: 'fenced', holder: detail === '' ? null : detail };
  if (word === 'lost' || word === 'back' || word === 'elsewhere') return { outcome: word };
  throw unexpectedAnswer(script, word);
}

function recordArguments(writes: readonly RecordWrite[]): Argument[] {
  const flat = writes.flatMap(({ key, state, event, derived = [] }): Argument[] => {
    const events = event === null ? [] : [event, ...derived];
    const kept = state === null ? rowField(key) : [recordField(key), packRecord(key, state)];
    return [...kept, events.length, ...events.map((one) => JSON.stringify(one))];
  });
  return [writes.length, ...flat];
}

function timerArguments(writes: readonly RecordWrite[]): Argument[] {
  const timers = writes.flatMap(({ key, timers = [] }) =>
    timers.map(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']),
  );
  return [timers.length, ...timers.flat()];
}

function setMembers({ page, keys }: NonNullable<Step['members']>): FieldChange {
  return [WALK_MEMBERS, 'set', page, packKeys(keys)];
}

/** With other members it waits for a complete sweep: in an abandoned one the stored members stay, as a skip needs. */
function pageChanges({ number, stored }: NonNullable<Step['page']>, hasOtherMembers: boolean): FieldChange[] {
  const forget: FieldChange = [PAGES, 'forget', number, ''];
  // The walk under way may have read the page already, and may recognise it in the next sweep.
  if (stored === null) return [forget, [WALK_PAGES, 'forget', number, '']];
  if (!hasOtherMembers) return [[PAGES, 'set', number, JSON.stringify(stored)]];
  return [forget, [WALK_PAGES, 'set', number, JSON.stringify(stored)]];
}

/** The walk that begins now is the first that must show what shortcuts created. */
export const BEGIN_WALK: readonly FieldChange[] = [
  [UNCONFIRMED_IDS, 'take', '', CREATED],
  [SWEEP, 'del', 'createdRows', ''],
];

export const ABANDON: readonly FieldChange[] = [
  [SWEEP, 'del', 'checkpoint', ''],
  ...[WALK_CURSORS, WALK_MEMBERS, WALK_PAGES].map((key): FieldChange => [key, 'drop', '', '']),
];

/** Otherwise the removal of records that only an abandoned sweep has seen would go unnoticed. */
export function becomeUnconfirmed(ids: readonly string[]): FieldChange[] {
  return ids.map((id) => [UNCONFIRMED_IDS, 'add', id, '']);
}

/** A page is in one of the hashes at any time: in neither, its members would be lost, and with them their removals. */
export function promotion({ promote, drop, forget }: FinishedPages): FieldChange[] {
  return [
    ...promote.flatMap((page): FieldChange[] => [
      [WALK_MEMBERS, 'move', page, MEMBERS],
      [WALK_PAGES, 'move', page, PAGES],
    ]),
    ...drop.flatMap((page): FieldChange[] =>
      page === UNCONFIRMED
        ? [[UNCONFIRMED_IDS, 'drop', '', '']]
        : [MEMBERS, PAGES].map((key) => [key, 'del', page, '']),
    ),
    ...forget.map((page): FieldChange => [PAGES, 'forget', page, '']),
  ];
}
