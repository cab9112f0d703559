/**
 * One page against what is remembered: which records differ, and what is to be written for them. Cheap first: a record
 * whose text hashes as before costs one digest and its share of one read; only the others are loaded and compared.
 */
import type { RawRecord } from '../api/read-api.js';
import { ageOf } from '../detect/age.js';
import { stampOf } from '../detect/fields.js';
import { stampKnown } from '../detect/known.js';
import { noDrift } from '../detect/drift.js';
import { digestOf } from '../detect/digest.js';
import { recordKey } from '../detect/identity.js';
import type { Rules } from '../detect/rules.js';
import type { SchemaDelta } from '../detect/schema.js';
import { counted, countedAgain, mutedOnce, type CountedKind } from './counts.js';
import { judgeRecord, knownRecord, type SeenRecord } from './judge-record.js';
import type { JudgeOptions } from './judging.js';
import type { Checkpoint, PageCommit, RecordWrite, SweepStore } from './store.js';

/** What a page changes, and what the sweep knows after it. */
export interface Judgement {
  changes: Required<Pick<PageCommit, 'writes' | 'hold' | 'unhold' | 'schema' | 'members'>>;
  reached: Pick<Checkpoint, 'counts' | 'muted' | 'drift' | 'changedPages'>;
}

export async function judgePage(
  store: Pick<SweepStore, 'digests' | 'records' | 'members'>,
  options: JudgeOptions,
): Promise<Judgement> {
  const { records, rules, checkpoint } = options;
  const { list } = rules;
  const page = checkpoint.pages + 1;
  const seen = seenRecords(records, rules);
  const keys = seen.map(({ key }) => key);
  const [digests, before] = await Promise.all([store.digests(list, keys), store.members(list, page)]);
  const differing = seen.filter(({ digest }, index) => digests[index] !== digest);
  const states = await store.records(
    list,
    differing.map(({ key }) => key),
  );
  const lagging = differing.some(({ record }, index) => isOlder(record, states[index] ?? null));
  const tally = new PageTally({ ...options, observation: { ...options.observation, lagging } });
  seen.forEach(({ key, digest }, index) => digests[index] === digest && tally.unchanged(key));
  differing.forEach((record, index) => tally.differs(record, states[index] ?? null));
  const members = sameMembers(before, keys) ? null : { page, keys };
  return tally.judgement(members);
}

/** Adds up what the records of one page come to. */
class PageTally {
  readonly #options: JudgeOptions;
  readonly #writes: RecordWrite[] = [];
  readonly #hold: [key: string, json: string][] = [];
  readonly #unhold: string[] = [];
  readonly #schema: SchemaDelta = new Map();
  #counts: Checkpoint['counts'];
  #muted: Readonly<Record<string, number>>;
  #drift;

  constructor(options: JudgeOptions) {
    this.#options = options;
    const { counts, muted = {}, drift = noDrift() } = options.checkpoint;
    this.#counts = counts;
    this.#muted = muted;
    this.#drift = drift;
  }

  unchanged(key: string): void {
    // What waited has gone back to what it was.
    this.#release(key);
    if (this.#count(key, 'unchanged')) this.#drift = { ...this.#drift, rows: this.#drift.rows + 1 };
  }

  differs(record: SeenRecord, state: RecordWrite['state'] | null): void {
    const { key, text } = record;
    const { memory } = this.#options;
    const again = memory.seen.has(key);
    const judged = judgeRecord(record, state, {
      ...this.#options,
      drift: this.#drift,
      again,
      schemaDelta: this.#schema,
    });
    this.#drift = judged.drift;
    this.#count(key, judged.kind);
    if (judged.mutedBy !== undefined && !again) this.#muted = mutedOnce(this.#muted, judged.mutedBy);
    if (judged.kind === 'held') {
      this.#hold.push([key, text]);
      memory.held.add(key);
    } else if (judged.kind !== 'stale') this.#release(key);
    if (judged.write !== null) this.#writes.push(judged.write);
  }

  judgement(members: (PageCommit['members'] & object) | null): Judgement {
    const { changedPages = 0 } = this.#options.checkpoint;
    return {
      changes: { writes: this.#writes, hold: this.#hold, unhold: this.#unhold, schema: this.#schema, members },
      reached: {
        counts: this.#counts,
        muted: this.#muted,
        drift: this.#drift,
        changedPages: changedPages + (members === null ? 0 : 1),
      },
    };
  }

  /** True at the first look of this sweep. */
  #count(key: string, kind: CountedKind): boolean {
    const { seen } = this.#options.memory;
    const first = !seen.has(key);
    this.#counts = first ? counted(this.#counts, kind) : countedAgain(this.#counts, kind);
    seen.add(key);
    return first;
  }

  #release(key: string): void {
    if (this.#options.memory.held.delete(key)) this.#unhold.push(key);
  }
}

/** A record that stands twice on one page counts once: its first copy. */
function seenRecords(records: readonly RawRecord[], rules: Rules): SeenRecord[] {
  const occurrences = new Map<string, number>();
  const occurrence = (key: string): number => {
    const count = (occurrences.get(key) ?? 0) + 1;
    occurrences.set(key, count);
    return count;
  };
  const byKey = new Map<string, SeenRecord>();
  for (const record of records) {
    const key = recordKey(record, rules, occurrence);
    if (byKey.has(key)) continue;
    const text = JSON.stringify(record);
    byKey.set(key, { key, record, text, digest: digestOf(text) });
  }
  return [...byKey.values()];
}

function isOlder(record: RawRecord, state: RecordWrite['state'] | null): boolean {
  return state !== null && ageOf(stampOf(record), stampKnown(knownRecord(state))) === 'older';
}

function sameMembers(before: readonly string[] | null, keys: readonly string[]): boolean {
  if (before?.length !== keys.length) return false;
  const sorted = [...keys].sort();
  return before.every((key, index) => key === sorted[index]);
}
