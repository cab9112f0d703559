/** What a step of a walk or a shortcut writes, as the arguments of one script: all of it or nothing (lua/commit-page.lua). */
import { randomUUID } from 'node:crypto';
import type { ListName } from '../crm/lists/lists.js';
import type { ChangeEvent } from '../events/types.js';
import type { CommitResult, FencingToken, RecordWrite, Step } from '../sweep/store.js';
import { packVersioned } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
import { createdField, memberField, membersField } from './membership.js';
import { packRecord } from './packing.js';
import { recordField } from './record-key.js';
import { loadScript, unexpectedAnswer, words, type Script } from './scripts.js';
import { learnShape, NO_SHAPES, packShapes, type Shapes } from './shapes.js';
import { packPage, pageField } from './stored-pages.js';
import { knownShapes, readShapes, rememberShapes } from './stored-records.js';

const script = loadScript('commit-page');

/** Numbers of the script's KEYS. */
const SWEEP = 3;
const WALK = 4;
export const MEMBERS = 7;

type Argument = string | number | Buffer;
export type FieldChange = [key: number, op: 'set' | 'incr' | 'del', field: string, value: Argument];

export async function commit(scope: WorkspaceRedis, list: ListName, step: Step): Promise<CommitResult> {
  const { token, checkpoint = null, summary = null, writes, events, traceparent } = step;
  return await run(scope, list, {
    head: [token, randomUUID(), packVersioned(checkpoint), packVersioned(summary), summary?.completedAt ?? ''],
    writes,
    events,
    changes: fieldChanges(step),
    traceparent,
  });
}

/** Changes of fields alone: of no record, and without events. */
export async function commitChanges(
  scope: WorkspaceRedis,
  list: ListName,
  { token, changes }: { token: FencingToken; changes: readonly FieldChange[] },
): Promise<CommitResult> {
  return await run(scope, list, { head: [token, randomUUID(), '', '', ''], writes: [], changes });
}

function fieldChanges({
  cursors = [],
  members = null,
  page,
  dropParts = [],
  missing = [],
  createdByShortcut = [],
  schema = new Map<string, number>(),
  schemaSequences = [],
}: Step): FieldChange[] {
  return [
    ...cursors.map((cursor): FieldChange => [WALK, 'set', `c ${cursor}`, '']),
    ...(members === null ? [] : [setMembers(members)]),
    ...(page === undefined ? [] : pageChanges(page, members !== null)),
    ...dropParts.map((part): FieldChange => [WALK, 'del', membersField(part), '']),
    ...missing.map(([key, entry]): FieldChange =>
      entry === null ? [MEMBERS, 'del', `m ${key}`, ''] : [MEMBERS, 'set', `m ${key}`, JSON.stringify(entry)],
    ),
    ...createdByShortcut.map((key): FieldChange => [MEMBERS, 'set', createdField(key), '']),
    ...[...schema].map(([name, by]): FieldChange => [SWEEP, 'incr', `schema ${name}`, by]),
    ...schemaSequences.map(([field, sequence]): FieldChange => [SWEEP, 'set', `schemaEvents ${field}`, sequence]),
  ];
}

interface Call {
  /** The script's first five arguments. */
  head: readonly Argument[];
  writes: readonly RecordWrite[];
  /** Events about the list. */
  events?: readonly ChangeEvent[] | undefined;
  changes: readonly FieldChange[];
  traceparent?: string | undefined;
}

/** Another process may add a shape, or store the list again, between any two attempts. More than a few times is a fault. */
const ATTEMPTS = 5;

async function run(
  scope: WorkspaceRedis,
  list: ListName,
  { head, writes, events = [], changes, traceparent = '' }: Call,
): Promise<CommitResult> {
  const { redis, keys, workspace } = scope;
  const touched = [
    keys.records(workspace, list),
    keys.log(workspace),
    keys.sweep(workspace, list),
    keys.walk(workspace, list),
    keys.lease(workspace, list),
    keys.due(workspace),
    keys.members(workspace, list),
  ];
  const rest = [
    events.length,
    ...events.map((event) => JSON.stringify(event)),
    ...changeArguments(changes),
    ...timerArguments(writes),
    traceparent,
  ];
  let known = writes.length === 0 ? NO_SHAPES : await knownShapes(scope, list);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    const shapes = withShapeOf(known, writes);
    const json = packShapes(known);
    const described = [known.tag, Buffer.byteLength(json), shapes === known ? '' : packShapes(shapes)];
    const args = [...head, ...described, ...recordArguments(writes, shapes), ...rest];
    const answer = await script.run(redis, touched, args);
    if (words(script, answer)[0] !== 'shapes') {
      const result = committed(script, answer);
      if (result.outcome === 'committed') rememberShapes(scope, list, shapes);
      return result;
    }
    known = await readShapes(scope, list);
  }
  throw unexpectedAnswer(script, 'shapes');
}

/** Single records are often unusual; a page of them shows the list's names. */
const RECORDS_TO_LEARN_FROM = 10;

function withShapeOf(known: Shapes, writes: readonly RecordWrite[]): Shapes {
  const stored = writes.find(({ state }) => state.image !== null || state.fields !== undefined)?.state;
  if (stored === undefined || (known.shapes.length > 0 && writes.length < RECORDS_TO_LEARN_FROM)) return known;
  const content = stored.image === null ? stored.fields : (JSON.parse(stored.image) as object);
  return learnShape(known, Object.keys(content ?? {}));
}

export function committed(called: Script, answer: unknown): CommitResult {
  const [word, detail = ''] = words(called, answer);
  if (word === 'committed') return { outcome: 'committed', events: Number(detail) };
  if (word === 'fenced') return { outcome: 'fenced', holder: detail === '' ? null : detail };
  if (word === 'lost') return { outcome: 'lost' };
  throw unexpectedAnswer(called, word);
}

function recordArguments(writes: readonly RecordWrite[], shapes: Shapes): Argument[] {
  const flat = writes.flatMap(({ key, state, event, derived = [] }): Argument[] => {
    const events = event === null ? [] : [event, ...derived];
    const packed = packRecord(key, state, shapes);
    return [recordField(key), packed, events.length, ...events.map((one) => JSON.stringify(one))];
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
  const [field, packed] = memberField(page, keys);
  return [WALK, 'set', field, packed];
}

/**
 * A page with the same members replaces its stored one at once. With other members it waits in the walk until the sweep is
 * complete: if the sweep is abandoned, the stored members stay, and a page that is skipped must have them.
 */
function pageChanges({ number, stored }: NonNullable<Step['page']>, hasOtherMembers: boolean): FieldChange[] {
  const field = pageField(number);
  const forget: FieldChange = [MEMBERS, 'del', field, ''];
  // The walk under way may have read the page already, and may recognise it in the next sweep.
  if (stored === null) return [forget, [WALK, 'del', field, '']];
  if (!hasOtherMembers) return [[MEMBERS, 'set', field, packPage(stored)]];
  return [forget, [WALK, 'set', field, packPage(stored)]];
}

function changeArguments(changes: readonly FieldChange[]): Argument[] {
  return [changes.length, ...changes.flat()];
}
