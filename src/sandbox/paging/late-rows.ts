/** A list whose new rows appear late. The initial rows are always there. */
import type { World } from '../world/world.js';
import type { Rows } from './rows.js';

/** The rows without those created in the last `lateMs`. */
export function withoutYoung(rows: Rows, { world, now, lateMs }: { world: World; now: number; lateMs: number }): Rows {
  const initial = world.sizes.activity;
  const isYoung = (row: number): boolean =>
    row >= initial && (world.facts('activity', row)?.bornAt ?? now) > now - lateMs;
  const shown = rows.slice(0, Infinity).filter((row) => !isYoung(row));
  if (shown.length === rows.length) return rows;
  return {
    length: shown.length,
    slice: (from, to) => shown.slice(from, to),
    at: (position) => shown.at(position),
    positionAfter: (row) => {
      const position = rows.positionAfter(row);
      return shown.length - rows.slice(position, Infinity).filter((each) => !isYoung(each)).length;
    },
    has: (row) => rows.has(row) && !isYoung(row),
    isBefore: rows.isBefore,
  };
}
