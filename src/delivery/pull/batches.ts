/** The batch that is under way to each consumer: who has it, up to where it goes, and until when it is waited for. */
import { describe } from '../../kit/errors.js';
import type { Redis } from '../../redis/client.js';
import type { Keys } from '../../redis/keys.js';
import { loadScript, unexpectedAnswer, type Script } from '../../redis/scripts.js';
import { lineOf } from '../receipts/receipt.js';
import type { NotedReceipts } from '../groups/gate.js';

const takeBatch = loadScript('take-batch', import.meta.url);
const acknowledgeBatch = loadScript('acknowledge-batch', import.meta.url);

/** The part of a batch that is of one workspace. */
export interface Stretch {
  workspace: string;
  /** The offset from which it was read, and its end: log ids. */
  from: string;
  to: string;
  /** The log id of its first event; '' without one. */
  first: string;
  events: number;
}

/** What was handed out and not acknowledged. */
export interface UnderWay {
  id: string;
  /** The batch that was acknowledged with the question. */
  after: string;
  /** By the clock of Redis, ms. */
  takenMs: number;
  untilMs: number;
  /** How often something was handed out since the last acknowledgement. */
  times: number;
  stretches: Stretch[];
}

export interface PulledState {
  /** When the consumer asked last, ms; null: it never has. */
  askedMs: number | null;
  underWay: UnderWay | null;
}

interface Taking {
  /** Null: nothing is handed out; what is not selected is passed over. */
  id: string | null;
  /** Null: whatever was handed out before is still under way, however long ago. */
  visibilityMs: number | null;
  after: string;
  stretches: readonly Stretch[];
}

/** `busy`: another batch is under way. `moved`: it was read from where an offset is no longer. */
export type Taken = 'taken' | 'busy' | 'moved';

export function createBatchStore(redis: Redis, keys: Keys) {
  return {
    async read(consumer: string): Promise<PulledState> {
      return stateIn(await redis.hgetall(keys.pulled(consumer)));
    },
    async asked(consumer: string, nowMs: number): Promise<void> {
      await redis.hset(keys.pulled(consumer), 'asked', nowMs);
    },
    async take(consumer: string, { id, visibilityMs, after, stretches }: Taking): Promise<Taken> {
      const parts = stretches.flatMap(({ workspace, from, to, first, events }) => [workspace, from, to, first, events]);
      const args = [id ?? '', visibilityMs ?? 0, after, ...parts];
      const word = await takeBatch.run(redis, [keys.pulled(consumer), keys.offsets(consumer)], args);
      return oneOf(takeBatch, word, ['taken', 'busy', 'moved']);
    },
    /** @param noted the receipts by workspace @returns `before`: it is the last one that was acknowledged. `other`: another one is under way, or none */
    async acknowledge(consumer: string, id: string, noted: ReadonlyMap<string, NotedReceipts | undefined>) {
      const own = [...noted.keys()].flatMap((workspace) => [
        keys.receipts(consumer, workspace),
        keys.openReceipts(consumer, workspace),
      ]);
      const most = [...noted.values()].find((one) => one !== undefined)?.most ?? 0;
      const lines = [...noted].flatMap(([workspace, one]) => [workspace, one?.receipts.map(lineOf).join('') ?? '']);
      const touched = [keys.pulled(consumer), keys.offsets(consumer), ...own];
      const word = await acknowledgeBatch.run(redis, touched, [id, most, ...lines]);
      return oneOf(acknowledgeBatch, word, ['acknowledged', 'before', 'other']);
    },
  };
}

function oneOf<const Word extends string>(script: Script, answer: unknown, words: readonly Word[]): Word {
  const found = words.find((word) => word === answer);
  if (found === undefined) throw unexpectedAnswer(script, describe(answer));
  return found;
}

const STRETCH = /^(\d+(?:-\d+)?) (\d+-\d+) (\d+-\d+|) (\d+)$/u;

/** A part that cannot be read is none: its events are handed out again. */
function stateIn(fields: Partial<Record<string, string>>): PulledState {
  const { asked, batch, after = '', taken, until, times } = fields;
  const stretches = Object.entries(fields).flatMap(([field, text = '']) => {
    const [, from, to, first, events] = STRETCH.exec(text) ?? [];
    if (!field.startsWith('in ') || from === undefined || to === undefined) return [];
    return [{ workspace: field.slice(3), from, to, first: first ?? '', events: Number(events) }];
  });
  const numbers = { takenMs: Number(taken ?? 0), untilMs: Number(until ?? 0), times: Number(times ?? 1) };
  const underWay = batch === undefined ? null : { id: batch, after, ...numbers, stretches };
  return { askedMs: asked === undefined ? null : Number(asked), underWay };
}
