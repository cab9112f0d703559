/**
 * Ids as in real answers: UUIDv7, UUIDv4 and 24 hex digits in the same list, so the order of ids is not the order of
 * creation. Each id contains its record's index in scrambled form, so no table from id to record is needed.
 */
import { hash32 } from './random.js';

// Odd, so invertible modulo 2^32; the second undoes the first.
const SCRAMBLE = 0x9e3779b1;
const UNSCRAMBLE = 0x0e8b2f51;

export class Ids {
  readonly #seed: number;
  readonly #salt: number;

  constructor(
    seed: number,
    /** The number of the kind, so that no two kinds share an id. */
    kind: number,
  ) {
    this.#seed = hash32(seed, kind);
    this.#salt = hash32(this.#seed, 7);
  }

  idOf(index: number, bornAt: number): string {
    const hidden = hex((Math.imul(index, SCRAMBLE) ^ this.#salt) >>> 0, 8);
    const noise = hash32(this.#seed, index);
    const more = hash32(this.#seed, index, 1);
    switch (formOf(noise)) {
      case 'uuid7': {
        const time = hex(bornAt, 12);
        return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(noise & 0xfff, 3)}-${variant(more)}-${hex(more >>> 16, 4)}${hidden}`;
      }
      case 'uuid4':
        return `${hidden}-${hex(noise & 0xffff, 4)}-4${hex(noise >>> 20, 3)}-${variant(more)}-${hex(more, 8)}${hex(noise >>> 16, 4)}`;
      case 'hex24':
        return `${hex(Math.floor(bornAt / 1_000), 8)}${hex(more, 8)}${hidden}`;
    }
  }

  /** The index in an id; null for other text. The caller must check that the record at this index has this id. */
  indexOf(id: string): number | null {
    const hidden = hiddenIn(id);
    if (hidden === null) return null;
    return Math.imul(Number.parseInt(hidden, 16) ^ this.#salt, UNSCRAMBLE) >>> 0;
  }
}

function formOf(noise: number): 'uuid7' | 'uuid4' | 'hex24' {
  const tenth = noise % 10;
  return tenth < 6 ? 'uuid7' : tenth < 8 ? 'uuid4' : 'hex24';
}

function hiddenIn(id: string): string | null {
  if (/^[0-9a-f]{24}$/.test(id)) return id.slice(16);
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-[47][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$/.test(id)) return null;
  return id[14] === '7' ? id.slice(28) : id.slice(0, 8);
}

function variant(bits: number): string {
  return hex(0x8000 | (bits & 0x3fff), 4);
}

function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, '0');
}

/** A fixed UUIDv4 for what is never listed: users, teams, forms, products. */
export function fixedUuid(...parts: readonly number[]): string {
  const [a, b, c, d] = [1, 2, 3, 4].map((salt) => hex(hash32(...parts, salt), 8)) as [string, string, string, string];
  return `${a}-${b.slice(0, 4)}-4${b.slice(5)}-8${c.slice(1, 4)}-${c.slice(4)}${d}`;
}
