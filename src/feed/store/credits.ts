/** Keeps what new rows of histories say about records until a walk finds the change. Bounded in rows and records. */
import type { ListName } from '../../crm/lists/lists.js';
import { creditSchema, type Credit, type CreditedRecord } from '../detect/actor.js';
import type { WorkspaceRedis } from '../../redis/keys.js';
import { loadScript } from '../../redis/scripts.js';
import { readJson } from '../../redis/stored.js';

const script = loadScript('add-credits', import.meta.url);

/** Also of a record that was just created with all its fields. */
const MOST_ROWS = 32;
const MOST_RECORDS = 20_000;
const LIFE_MS = 3_600_000;

export function createCreditStore({ redis, keys, workspace }: WorkspaceRedis) {
  const [key, index] = [keys.credits(workspace), keys.credited(workspace)];
  return {
    async add(credited: readonly CreditedRecord[], nowMs: number): Promise<void> {
      const rows = credited.flatMap(({ list, id, credit }) => [`${list.name} ${id}`, JSON.stringify(credit)]);
      await script.run(redis, [key, index], [nowMs, LIFE_MS, MOST_RECORDS, MOST_ROWS, ...rows]);
    },
    async of(list: ListName, ids: readonly string[]): Promise<Credit[][]> {
      const at = { what: 'rows of a history', key } as const;
      const texts = await redis.hmget(key, ...ids.map((id) => `${list} ${id}`));
      return texts.map((text) => (text?.split('\n') ?? []).map((line) => readJson(creditSchema, line, at)));
    },
  };
}

export type CreditStore = ReturnType<typeof createCreditStore>;
