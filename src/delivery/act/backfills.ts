/** Backfills (snapshots and replays): one hash of tasks, and the events of a snapshot that are being sent. */
import { backfillTask, type BackfillTask } from './backfill-task.js';
import { describe } from '../../kit/errors.js';
import type { ChangeEvent } from '../../events/types.js';
import type { Redis } from '../../redis/client.js';
import { readEvent } from '../../log/entry.js';
import type { Keys } from '../../redis/keys.js';
import { loadScript, unexpectedAnswer } from '../../redis/scripts.js';
import { readJson } from '../../redis/stored.js';
import { readUndelivered } from './undelivered.js';

const stepScript = loadScript('backfill-step', import.meta.url);

/** A task as read. By compare-and-set: of two processes at a task, one succeeds and the other reads it again. */
export interface StoredTask<Task = BackfillTask> {
  name: string;
  text: string;
  task: Task;
}

/** What is sent of a record: an event, with the id of its delivery. */
export interface StagedEvent {
  id: string;
  event: ChangeEvent;
}

interface TaskStep {
  to: BackfillTask | null;
  /** The serial that was entered last in this step. @defaultValue nothing was entered */
  entered?: string | undefined;
  /** Staged in this step (null: nothing is sent), or deleted once `sent`; `discarded`: of an earlier one. */
  staged?: { tail: string; records: readonly { record: string; sent: StagedEvent | null }[] } | 'sent' | 'discarded';
}

export type BackfillStore = ReturnType<typeof createBackfillStore>;

export function createBackfillStore(redis: Redis, keys: Keys) {
  const run = async (subscription: string, { id, workspace }: BackfillTask, args: (string | number)[]) => {
    const touched = [
      keys.backfills(subscription),
      keys.staged(subscription, workspace),
      keys.seen(subscription, workspace),
      keys.entered(subscription, `${id}:${workspace}`),
      keys.undelivered(subscription, workspace),
      keys.offsets(subscription),
    ];
    const word = await stepScript.run(redis, touched, args);
    if (word === 'moved' || word === 'stale') return word === 'moved';
    throw unexpectedAnswer(stepScript, describe(word));
  };
  return {
    async tasks(subscription: string): Promise<StoredTask[]> {
      const key = keys.backfills(subscription);
      return Object.entries(await redis.hgetall(key)).map(([name, text]) => {
        const at = { what: 'the task of a snapshot or replay', key, field: name } as const;
        return { name, text, task: readJson(backfillTask, text, at) };
      });
    },
    /**
     * Stores a task unless it is stored already; a workspace has one snapshot.
     * @param reached the log id up to which the subscription has read. @defaultValue the task does not depend on it
     * @returns false: it is stored already, or Redis has gone back to before that
     */
    begin(subscription: string, task: BackfillTask, reached = ''): Promise<boolean> {
      const args = [nameOf(task), '', JSON.stringify(task), 'keep', '', '', task.workspace, reached, 0];
      return run(subscription, task, args);
    },
    /** Replaces a task, or deletes it (`to: null`). False when another one is stored by now, or `entered` is forgotten; then nothing was done. */
    async step(
      subscription: string,
      { name, text, task }: StoredTask,
      { to, entered = '', staged }: TaskStep,
    ): Promise<boolean> {
      const { tail, records } = typeof staged === 'object' ? staged : { tail: '', records: [] };
      return await run(subscription, task, [
        ...[name, text, to === null ? '' : JSON.stringify(to)],
        ...[staged === 'sent' ? 'drop' : staged === 'discarded' ? 'discard' : 'keep', entered, tail],
        ...['', '', records.length],
        ...records.flatMap(({ record, sent }) => [
          record,
          sent?.id ?? '',
          sent === null ? '' : JSON.stringify(sent.event),
        ]),
      ]);
    },
    async staged(subscription: string, workspace: string): Promise<StagedEvent[]> {
      const key = keys.staged(subscription, workspace);
      return (await redis.lrange(key, 0, -1)).map((text) => stagedIn(text, key));
    },
    /** By list, what the snapshot has sent and no handler has got. */
    undelivered: (subscription: string, workspace: string) => readUndelivered({ redis, keys }, subscription, workspace),
    /** For each record, the end of the log when a snapshot read its image; null when none did. */
    async imagesReadAt(
      subscription: string,
      workspace: string,
      records: readonly string[],
    ): Promise<(string | null)[]> {
      return records.length === 0 ? [] : await redis.hmget(keys.seen(subscription, workspace), ...records);
    },
    async forgetImagesRead(subscription: string, workspace: string): Promise<void> {
      await redis.unlink(keys.seen(subscription, workspace));
    },
  };
}

/** A workspace has one. */
export const snapshotNameOf = (workspace: string): string => `snapshot ${workspace}`;

/** A staged event is stored behind the id of its delivery. */
export function stagedIn(text: string, key: string): StagedEvent {
  const cut = text.indexOf(' ');
  return { id: text.slice(0, cut), event: readEvent(text.slice(cut + 1), { what: 'an event of a snapshot', key }) };
}

/** It ends in the workspace: `traces.ts` finds a workspace's tasks by this. */
function nameOf(task: BackfillTask): string {
  return task.kind === 'snapshot' ? snapshotNameOf(task.workspace) : `replay ${task.id} ${task.workspace}`;
}
