/** Writes a list to Redis as sweeps would: a baseline, then changes with image and event in one commit. */
import { expect } from 'vitest';
import type { BuiltInList } from '../../src/crm/lists/lists.js';
import { createSweepStore, type SweepStore } from '../../src/feed/store/sweep-store.js';
import { noCounts, type RecordWrite, type Step, type SweepSummary } from '../../src/feed/store/sweep-state.js';
import type { Keys } from '../../src/redis/keys.js';
import type { Redis } from 'ioredis';
import { WORKSPACE, changeEvent } from './events.js';

const AT = '2026-03-02T04:10:00.000Z';

export class StoredList {
  readonly sequences = new Map<string, number>();
  readonly #store: SweepStore;
  readonly #list: BuiltInList;
  #token: string | undefined;
  #last: Promise<unknown> = Promise.resolve();

  constructor({ redis, keys }: { redis: Redis; keys: Keys }, list: BuiltInList = 'people') {
    this.#store = createSweepStore(redis, keys, WORKSPACE);
    this.#list = list;
  }

  /** Stores the records without events, as a first sweep does. `complete: false` leaves the sweep unfinished. */
  async baseline(records: readonly string[], { complete = true } = {}): Promise<void> {
    for (const record of records) this.sequences.set(record, 0);
    await this.#write(records.map((record) => stored(record, 0)));
    if (complete) await this.complete();
  }

  /** @param epoch in which the sweep began */
  async complete(epoch = 0, found: Pick<SweepSummary, 'held' | 'unreadable'> = {}): Promise<void> {
    const summary = {
      sweepId: 'people-1',
      startedAt: AT,
      completedAt: AT,
      epoch,
      mode: 'baseline',
      pages: 1,
      counts: noCounts(),
      ...found,
    } as const;
    await this.#commit({ checkpoint: null, summary, writes: [] });
  }

  /** What the last complete sweep held is not reported. The next sweep stores it without events. */
  async discardHeld(): Promise<void> {
    await this.#store.discardHeld(this.#list);
  }

  async change(...records: readonly string[]): Promise<void> {
    const writes = records.map((record): RecordWrite => {
      const before = this.sequences.get(record);
      const sequence = (before ?? 0) + 1;
      this.sequences.set(record, sequence);
      const verb = before === undefined ? 'created' : 'updated';
      const event = changeEvent({ record, sequence, verb, list: this.#list });
      return { ...stored(record, sequence), event };
    });
    await this.#write(writes);
  }

  async remove(record: string): Promise<void> {
    const sequence = (this.sequences.get(record) ?? 0) + 1;
    this.sequences.set(record, sequence);
    const state = { digest: 'gone', sequence, image: null, gone: { at: AT, modifiedAt: null } };
    const event = changeEvent({ record, sequence, verb: 'deleted', list: this.#list });
    await this.#write([{ key: record, state, event }]);
  }

  async #write(writes: readonly RecordWrite[]): Promise<void> {
    const where = { sweepId: 'people-1', startedAt: AT, cursor: 'c', pages: 1, firstPage: null };
    const checkpoint = { ...where, mode: 'changes', counts: noCounts() } as const;
    await this.#commit({ checkpoint, summary: null, writes });
  }

  /** One at a time, as by the process that sweeps a list: a commit that follows no other one is refused. */
  async #commit(step: Step): Promise<void> {
    const before = this.#last;
    const committed = (async () => {
      await before;
      return await this.#store.commit(this.#list, { token: await this.#lease(), ...step });
    })();
    this.#last = committed;
    expect(await committed).toMatchObject({ outcome: 'committed' });
  }

  async #lease(): Promise<string> {
    if (this.#token === undefined) {
      const lease = await this.#store.acquire(this.#list, 600_000);
      if (lease.outcome === 'held') throw new Error(`held by ${lease.holder}`);
      this.#token = lease.token;
    }
    return this.#token;
  }
}

function stored(record: string, sequence: number): RecordWrite {
  const image = JSON.stringify({ id: record, 이름: `가상인 ${sequence}` });
  return { key: record, state: { digest: `d${sequence}`, sequence, image }, event: null };
}

export function recordNames(count: number): string[] {
  return Array.from({ length: count }, (_, n) => `r${String(n).padStart(5, '0')}`);
}
