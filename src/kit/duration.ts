const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

type Unit = keyof typeof UNIT_MS;

/** A duration with its unit, as a text: `'30s'`, `'15m'`, `'1.5h'`. */
export type Duration = `${number}${Unit}` | `${number} ${Unit}`;

/** The form of a duration. */
export const DURATION = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/;

/** `'30s'`, `'15m'`, `'7d'`, `'250ms'`, `'1.5h'` in milliseconds; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = DURATION.exec(text.trim());
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]);
}

/** As `parseDuration` reads it: `'14d'`, `'36h'`. */
export function durationText(ms: number): Duration {
  const unit = (Object.keys(UNIT_MS) as Unit[]).findLast((one) => ms % UNIT_MS[one] === 0) ?? 'ms';
  return `${ms / UNIT_MS[unit]}${unit}`;
}

/** Milliseconds as readable text: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < UNIT_MS.s) return `${Math.round(ms)} ms`;
  if (ms < UNIT_MS.m) return `${(ms / UNIT_MS.s).toFixed(1).replace(/\.0$/, '')} s`;
  if (ms < UNIT_MS.h) return inUnits(ms, 'm', 's');
  // Days are used from two days on: "26 h" is easier to read than "1 d 2 h".
  return ms < 2 * UNIT_MS.d ? inUnits(ms, 'h', 'm') : inUnits(ms, 'd', 'h');
}

function inUnits(ms: number, unit: keyof typeof UNIT_MS, smaller: keyof typeof UNIT_MS): string {
  const text = (count: number, name: string): string => `${count} ${name === 'm' ? 'min' : name}`;
  const rest = Math.round((ms % UNIT_MS[unit]) / UNIT_MS[smaller]);
  const whole = text(Math.floor(ms / UNIT_MS[unit]), unit);
  return rest === 0 ? whole : `${whole} ${text(rest, smaller)}`;
}
