/** Did a list's schema change, and are too many records new? Decided once, for the walk that follows. Pure. */
import { z } from 'zod';
import type { SchemaChange } from '../../events/types.js';
import { allowanceFor, isCleared, isHeld, type CreationCounts, type CreationGuard } from './creation.js';
import {
  driftedField,
  driftOf,
  movesOfSchema,
  unknownMoves,
  type AskedMoves,
  type FieldMoves,
  type MoveRules,
} from './schema-drift/drift.js';
import { ABSENT, type Transition, type ValueTypes } from './schema-drift/schema.js';

export const verdictSchema = z.object({
  /** Fields that drifted: rows that make the same moves yield no event. */
  fields: z.array(driftedField).readonly(),
  /** Fields whose moves are edits of single records. */
  edited: z.array(z.string()).readonly(),
  /** How many new records may pass before the question arises again. */
  allowed: z.number(),
  /** ISO 8601: new records are held since then, until a person accepts them. Null: they are not. */
  heldSince: z.iso.datetime().nullable(),
  /** New records are stored without an event: a person has discarded those that were held. */
  quiet: z.literal(true).exactOptional(),
  /** The person's decision was about a list that still had its records: where it shows others, the question arises again. */
  ours: z.literal(true).exactOptional(),
});
/** The decisions of a survey. Plain data, kept with the checkpoint of the walk that follows. */
export type Verdict = z.infer<typeof verdictSchema>;

export const NO_VERDICT: Verdict = { fields: [], edited: [], allowed: 0, heldSince: null };

/** The question that began a survey: so many new records, or fields that move. */
export type SurveyQuestion = { about: 'creations'; fresh: number } | { about: 'fields'; fields: readonly string[] };

export interface SurveyOptions {
  question: SurveyQuestion;
  moves: MoveRules;
  guard: CreationGuard;
  before: Verdict;
}

export class Survey {
  readonly #options: SurveyOptions;
  readonly #rules: AskedMoves;
  /** Field → from → to → rows. */
  readonly #moves = new Map<string, Map<string, Map<string, number>>>();
  /** Field → value type → rows that were known before. */
  readonly #typesNow = new Map<string, Map<string, number>>();
  #seen = 0;
  #fresh = 0;

  constructor(options: SurveyOptions) {
    this.#options = options;
    const asked = this.#asked;
    const isMoving = (field: string): boolean => asked.includes(field) || this.#moves.has(field);
    this.#rules = { ...options.moves, edited: options.before.edited, isMoving };
  }

  countNew(): void {
    this.#seen += 1;
    this.#fresh += 1;
  }

  /** @param moves none where the text is as it was stored */
  countKnown(types: ValueTypes, moves: readonly Transition[] = []): void {
    this.#seen += 1;
    for (const [field, type] of types) add(mapIn(this.#typesNow, field), type);
    for (const { field, from, to } of unknownMoves(moves, this.#rules)) add(mapIn(mapIn(this.#moves, field), from), to);
  }

  /** @param reported new records that were reported before */
  isDecided(reported: number): boolean {
    const { question, guard } = this.#options;
    const counts = this.#counts(reported);
    // Known records in front of the new ones prove nothing: the next walk would only ask again.
    return question.about === 'creations' && counts.fresh >= question.fresh && isCleared(counts, guard);
  }

  /** @param at ISO 8601 */
  decide({ reported, at }: { reported: number; at: string }): { verdict: Verdict; changes: SchemaChange[] } {
    const { guard, before } = this.#options;
    const drifts = [...this.#moves.keys()].flatMap((field) => {
      const seen = this.#movesOf(field);
      const change = driftOf(field, seen);
      return change === null ? [] : [{ change, drifted: { field, moves: movesOfSchema(seen) } }];
    });
    const drifted = new Set(drifts.map(({ change }) => change.field));
    const edited = [...this.#asked, ...this.#moves.keys()].filter((field) => !drifted.has(field));
    const counts = this.#counts(reported);
    const verdict: Verdict = {
      fields: [...before.fields, ...drifts.map((one) => one.drifted)],
      edited: [...new Set([...before.edited, ...edited])],
      allowed: Math.max(before.allowed, allowanceFor(counts.fresh)),
      heldSince: before.heldSince ?? (isHeld(counts, guard, before) ? at : null),
      ...(before.quiet && { quiet: true }),
    };
    return { verdict, changes: drifts.map(({ change }) => change) };
  }

  get #asked(): readonly string[] {
    const { question } = this.#options;
    return question.about === 'fields' ? question.fields : [];
  }

  #counts(reported: number): CreationCounts {
    return { seen: this.#seen, fresh: this.#fresh + reported, allowed: this.#options.before.allowed };
  }

  #movesOf(field: string): FieldMoves {
    const moves = this.#moves.get(field) ?? new Map<string, Map<string, number>>();
    const knownRows = this.#seen - this.#fresh;
    const now = new Map(this.#typesNow.get(field));
    now.set(ABSENT, knownRows - total(now));
    // The types that the rows had before: those of now, with every move taken back.
    let moved = 0;
    for (const [from, into] of moves) {
      for (const [to, rows] of into) {
        moved += rows;
        add(now, to, -rows);
        add(now, from, rows);
      }
    }
    return { moved, moves: plain(moves), valueTypes: Object.fromEntries([...now].filter(([, rows]) => rows > 0)) };
  }
}

function mapIn<Value>(map: Map<string, Map<string, Value>>, key: string): Map<string, Value> {
  const inner = map.get(key) ?? new Map<string, Value>();
  map.set(key, inner);
  return inner;
}

function add(counts: Map<string, number>, key: string, by = 1): void {
  counts.set(key, (counts.get(key) ?? 0) + by);
}

function total(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, rows) => sum + rows, 0);
}

function plain(moves: ReadonlyMap<string, ReadonlyMap<string, number>>): FieldMoves['moves'] {
  return Object.fromEntries([...moves].map(([from, into]) => [from, Object.fromEntries(into)]));
}
