/** What a sweep writes, as the arguments of one script: all of it or nothing (lua/commit-page.lua). */
import { randomUUID } from 'node:crypto';
import type { ListName } from '../crm/lists/lists.js';
import type { SchemaDelta } from '../detect/schema-drift/schema.js';
import type { CommitResult, PageCommit, RecordWrite, RemovalCommit } from '../sweep/store.js';
import { packVersioned } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
import { memberField, membersField } from './membership.js';
import { packQuarantined, packRecord } from './packing.js';
import { packPage, pageField } from './stored-pages.js';
import { loadScript, unexpectedAnswer, words, type Script } from './scripts.js';

const script = loadScript('commit-page');

/** Numbers of the script's KEYS. */
const SWEEP = 4;
export const WALK = 5;
export const MEMBERS = 8;

type Argument = string | number | Buffer;
export type FieldChange = [key: number, op: 'set' | 'incr' | 'del', field: string, value: Argument];

export async function commitPage(scope: WorkspaceRedis, list: ListName, commit: PageCommit): Promise<CommitResult> {
  const {
    token,
    checkpoint,
    summary,
    writes,
    events = [],
    cursors = [],
    members = null,
    page,
    dropParts = [],
    quarantine = [],
    release = [],
  } = commit;
  const changes: FieldChange[] = [
    ...cursors.map((cursor): FieldChange => [WALK, 'set', `c ${cursor}`, '']),
    ...(members === null ? [] : [setMembers(members)]),
    ...(page === undefined ? [] : pageChanges(page, members !== null)),
    ...dropParts.map((part): FieldChange => [WALK, 'del', membersField(part), '']),
    ...quarantine.map(([key, json]): FieldChange => [WALK, 'set', `h ${key}`, packQuarantined(json)]),
    ...release.map((key): FieldChange => [WALK, 'del', `h ${key}`, '']),
    ...schemaChanges(commit.schema),
    ...(commit.schemaSequences ?? []).map(([field, sequence]): FieldChange => [
      SWEEP,
      'set',
      `schemaEvents ${field}`,
      sequence,
    ]),
  ];
  return await run(scope, list, [
    token,
    randomUUID(),
    packVersioned(checkpoint),
    packVersioned(summary),
    summary?.completedAt ?? '',
    ...recordArguments(writes),
    events.length,
    ...events.map((event) => JSON.stringify(event)),
    ...changeArguments(changes),
    ...timerArguments(writes),
  ]);
}

export async function commitRemovals(
  scope: WorkspaceRedis,
  list: ListName,
  commit: RemovalCommit,
): Promise<CommitResult> {
  const changes = commit.missing.map(([key, entry]): FieldChange =>
    entry === null ? [MEMBERS, 'del', `m ${key}`, ''] : [MEMBERS, 'set', `m ${key}`, JSON.stringify(entry)],
  );
  return await run(scope, list, [
    commit.token,
    randomUUID(),
    packVersioned(commit.checkpoint),
    '',
    '',
    ...recordArguments(commit.writes),
    0,
    ...changeArguments([...changes, ...schemaChanges(commit.schema)]),
    ...timerArguments(commit.writes),
  ]);
}

export async function run(
  { redis, keys, workspace }: WorkspaceRedis,
  list: ListName,
  args: Argument[],
): Promise<CommitResult> {
  const touched = [
    keys.digests(workspace, list),
    keys.records(workspace, list),
    keys.log(workspace),
    keys.sweep(workspace, list),
    keys.walk(workspace, list),
    keys.lease(workspace, list),
    keys.due(workspace),
    keys.members(workspace, list),
  ];
  return committed(script, await script.run(redis, touched, args));
}

export function committed(called: Script, answer: unknown): CommitResult {
  const [word, detail = ''] = words(called, answer);
  if (word === 'committed') return { outcome: 'committed', events: Number(detail) };
  if (word === 'fenced') return { outcome: 'fenced', holder: detail === '' ? null : detail };
  if (word === 'lost') return { outcome: 'lost' };
  throw unexpectedAnswer(called, word);
}

export function recordArguments(writes: readonly RecordWrite[]): Argument[] {
  const flat = writes.flatMap(({ key, state, event, derived = [] }): Argument[] => {
    const events = event === null ? [] : [event, ...derived];
    return [key, state.digest, packRecord(state), events.length, ...events.map((one) => JSON.stringify(one))];
  });
  return [writes.length, ...flat];
}

export function timerArguments(writes: readonly RecordWrite[]): Argument[] {
  const timers = writes.flatMap(({ key, timers = [] }) =>
    timers.map(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']),
  );
  return [timers.length, ...timers.flat()];
}

function setMembers({ page, keys }: NonNullable<PageCommit['members']>): FieldChange {
  const [field, packed] = memberField(page, keys);
  return [WALK, 'set', field, packed];
}

/**
 * A page with the same members replaces its stored one at once. With other members it waits in the walk until the sweep is
 * complete: if the sweep is abandoned, the stored members stay, and a page that is skipped must have them.
 */
function pageChanges({ number, stored }: NonNullable<PageCommit['page']>, hasOtherMembers: boolean): FieldChange[] {
  const field = pageField(number);
  const forget: FieldChange = [MEMBERS, 'del', field, ''];
  if (stored === null) return [forget];
  if (!hasOtherMembers) return [[MEMBERS, 'set', field, packPage(stored)]];
  return [forget, [WALK, 'set', field, packPage(stored)]];
}

export function schemaChanges(delta: SchemaDelta | undefined): FieldChange[] {
  return [...(delta ?? [])].map(([name, by]): FieldChange => [SWEEP, 'incr', `schema ${name}`, by]);
}

export function changeArguments(changes: readonly FieldChange[]): Argument[] {
  return [changes.length, ...changes.flat()];
}
