/** Backfills of a subscription (snapshots and replays): one hash of tasks, and the events of a snapshot that are being sent. */
import { backfillTask, type BackfillTask } from '../dispatch/backfill-task.js';
import type { BackfillStore } from '../dispatch/ports.js';
import { describe } from '../errors.js';
import type { Redis } from '../redis/client.js';
import { readEvent } from './event-log.js';
import type { Keys } from './keys.js';
import { loadScript, unexpectedAnswer } from './scripts.js';
import { readJson } from './stored.js';

const stepScript = loadScript('backfill-step');

export function createBackfillStore(redis: Redis, keys: Keys): BackfillStore {
  return {
    async tasks(subscription) {
      const key = keys.backfills(subscription);
      return Object.entries(await redis.hgetall(key)).map(([name, text]) => {
        const at = { what: 'the task of a snapshot or replay', key, field: name } as const;
        return { name, text, task: readJson(backfillTask, text, at) };
      });
    },
    async begin(subscription, task) {
      await redis.hsetnx(keys.backfills(subscription), nameOf(task), JSON.stringify(task));
    },
    async step(subscription, { name, text, task: { workspace } }, { to, staged }) {
      const touched = [
        keys.backfills(subscription),
        keys.staged(subscription, workspace),
        keys.seen(subscription, workspace),
      ];
      const { tail, records } = typeof staged === 'object' ? staged : { tail: '', records: [] };
      const word = await stepScript.run(redis, touched, [
        ...[name, text, to === null ? '' : JSON.stringify(to)],
        ...[staged === 'sent' ? 'drop' : staged === 'discarded' ? 'discard' : 'keep', tail, records.length],
        ...records.flatMap(({ record, event }) => [record, event === null ? '' : JSON.stringify(event)]),
      ]);
      if (word === 'moved' || word === 'stale') return word === 'moved';
      throw unexpectedAnswer(stepScript, describe(word));
    },
    async staged(subscription, workspace) {
      const key = keys.staged(subscription, workspace);
      const events = await redis.lrange(key, 0, -1);
      return events.map((json) => readEvent(json, { what: 'an event of a snapshot', key }));
    },
    async imagesReadAt(subscription, workspace, records) {
      return records.length === 0 ? [] : await redis.hmget(keys.seen(subscription, workspace), ...records);
    },
    async forgetImagesRead(subscription, workspace) {
      await redis.unlink(keys.seen(subscription, workspace));
    },
  };
}

/** It ends in the workspace: `traces.ts` finds a workspace's tasks by this. */
function nameOf(task: BackfillTask): string {
  return task.kind === 'snapshot' ? `snapshot ${task.workspace}` : `replay ${task.id} ${task.workspace}`;
}
