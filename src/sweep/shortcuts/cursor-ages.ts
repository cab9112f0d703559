/**
 * How long the cursors of a list have been kept, and for how long they may be believed. A server may answer an old cursor with the page as
 * it was. A page that was certainly not old, although its cursor had been kept for longer, proves for a while that this server does not.
 */
import { CURSOR_LIFE_MS } from '../start-sweep.js';

/** A server may begin to answer kept cursors in another way. */
const PROOF_LIFE_MS = 3_600_000;

export class CursorAges {
  /** When an answer named a cursor last. Those that are not here are not older than the last complete sweep. */
  readonly #namedMs = new Map<string, number>();
  #sweptMs = NaN;
  #proof: { keptMs: number; atMs: number } | null = null;

  /** The last complete sweep began then: it was given every cursor that is still in use. */
  begin(sweptMs: number): void {
    this.#sweptMs = sweptMs;
    for (const [cursor, atMs] of this.#namedMs) {
      if (atMs >= sweptMs) break;
      this.#namedMs.delete(cursor);
    }
  }

  /** An answer to a request of then names this cursor. */
  named(cursor: string, askedAtMs: number): void {
    this.#namedMs.delete(cursor);
    this.#namedMs.set(cursor, askedAtMs);
  }

  /** The page behind the cursor was an old one. */
  gaveOld(): void {
    this.#proof = null;
  }

  /** The page behind the cursor, requested then, was certainly not an old one. */
  gaveLive(cursor: string | null, nowMs: number): void {
    const keptMs = this.#keptMs(cursor, nowMs);
    if (keptMs === 0) return;
    const before = this.#proof;
    if (before === null || keptMs >= before.keptMs || nowMs - before.atMs >= PROOF_LIFE_MS)
      this.#proof = { keptMs, atMs: nowMs };
  }

  /** Whether the page behind the cursor may be an old one. */
  isDoubtful(cursor: string | null, nowMs: number): boolean {
    const keptMs = this.#keptMs(cursor, nowMs);
    const proof = this.#proof;
    const isProven = proof !== null && keptMs <= proof.keptMs && nowMs - proof.atMs < PROOF_LIFE_MS;
    return keptMs > CURSOR_LIFE_MS && !isProven;
  }

  /** How long ago the server gave out the cursor, at most. */
  #keptMs(cursor: string | null, nowMs: number): number {
    return cursor === null ? 0 : nowMs - (this.#namedMs.get(cursor) ?? this.#sweptMs);
  }
}
