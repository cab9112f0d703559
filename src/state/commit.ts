/** What a sweep writes, as the arguments of one script: all of it or nothing (lua/commit-page.lua). */
import { randomUUID } from 'node:crypto';
import type { ListName } from '../crm/lists/lists.js';
import type { SchemaDelta } from '../detect/schema-drift/schema.js';
import type { CommitResult, PageCommit, RecordWrite, RemovalCommit } from '../sweep/store.js';
import { packVersioned } from './checkpoint.js';
import type { WorkspaceRedis } from './keys.js';
import { memberField, membersField } from './membership.js';
import { packQuarantined, packRecord } from './packing.js';
import { loadScript, unexpectedAnswer, words, type Script } from './scripts.js';

const script = loadScript('commit-page');

/** Numbers of the script's KEYS. */
const SWEEP = 4;
const WALK_OR_MEMBERS = 5;

type Argument = string | number | Buffer;
type FieldChange = [key: number, op: 'set' | 'incr' | 'del', field: string, value: Argument];

export async function commitPage(scope: WorkspaceRedis, list: ListName, commit: PageCommit): Promise<CommitResult> {
  const {
    token,
    checkpoint,
    summary,
    writes,
    events = [],
    members,
    dropParts = [],
    quarantine = [],
    release = [],
  } = commit;
  const { keys, workspace } = scope;
  const changes: FieldChange[] = [
    ...(members === null || members === undefined ? [] : [setMembers(members)]),
    ...dropParts.map((page): FieldChange => [WALK_OR_MEMBERS, 'del', membersField(page), '']),
    ...quarantine.map(([key, json]): FieldChange => [WALK_OR_MEMBERS, 'set', `h ${key}`, packQuarantined(json)]),
    ...release.map((key): FieldChange => [WALK_OR_MEMBERS, 'del', `h ${key}`, '']),
    ...schemaChanges(commit.schema),
    ...(commit.schemaSequences ?? []).map(([field, sequence]): FieldChange => [
      SWEEP,
      'set',
      `schemaEvents ${field}`,
      sequence,
    ]),
  ];
  return await run(scope, keysOf(scope, list, keys.walk(workspace, list)), [
    token,
    randomUUID(),
    packVersioned(checkpoint),
    checkpoint?.cursor ?? '',
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
  const { keys, workspace } = scope;
  const changes = commit.missing.map(([key, entry]): FieldChange =>
    entry === null
      ? [WALK_OR_MEMBERS, 'del', `m ${key}`, '']
      : [WALK_OR_MEMBERS, 'set', `m ${key}`, JSON.stringify(entry)],
  );
  return await run(scope, keysOf(scope, list, keys.members(workspace, list)), [
    commit.token,
    randomUUID(),
    packVersioned(commit.checkpoint),
    '',
    '',
    '',
    ...recordArguments(commit.writes),
    0,
    ...changeArguments([...changes, ...schemaChanges(commit.schema)]),
    ...timerArguments(commit.writes),
  ]);
}

function keysOf({ keys, workspace }: WorkspaceRedis, list: ListName, walkOrMembers: string): string[] {
  return [
    keys.digests(workspace, list),
    keys.records(workspace, list),
    keys.log(workspace),
    keys.sweep(workspace, list),
    walkOrMembers,
    keys.lease(workspace, list),
    keys.due(workspace),
  ];
}

async function run({ redis }: WorkspaceRedis, keys: string[], args: Argument[]): Promise<CommitResult> {
  return committed(script, await script.run(redis, keys, args));
}

export function committed(called: Script, answer: unknown): CommitResult {
  const [word, detail = ''] = words(called, answer);
  if (word === 'committed') return { outcome: 'committed', events: Number(detail) };
  if (word === 'fenced') return { outcome: 'fenced', holder: detail === '' ? null : detail };
  if (word === 'lost') return { outcome: 'lost' };
  throw unexpectedAnswer(called, word);
}

function recordArguments(writes: readonly RecordWrite[]): Argument[] {
  const flat = writes.flatMap(({ key, state, event, derived = [] }): Argument[] => {
    const events = event === null ? [] : [event, ...derived];
    return [key, state.digest, packRecord(state), events.length, ...events.map((one) => JSON.stringify(one))];
  });
  return [writes.length, ...flat];
}

function timerArguments(writes: readonly RecordWrite[]): Argument[] {
  const timers = writes.flatMap(({ key, timers = [] }) =>
    timers.map(({ kind, atMs }) => [`${kind} ${key}`, atMs ?? '']),
  );
  return [timers.length, ...timers.flat()];
}

function setMembers({ page, keys }: NonNullable<PageCommit['members']>): FieldChange {
  const [field, packed] = memberField(page, keys);
  return [WALK_OR_MEMBERS, 'set', field, packed];
}

function schemaChanges(delta: SchemaDelta | undefined): FieldChange[] {
  return [...(delta ?? [])].map(([name, by]): FieldChange => [SWEEP, 'incr', `schema ${name}`, by]);
}

function changeArguments(changes: readonly FieldChange[]): Argument[] {
  return [changes.length, ...changes.flat()];
}
