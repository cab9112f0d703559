const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `'30s'`, `'15m'`, `'7d'`, `'250ms'`, `'1.5h'` in milliseconds; undefined for any other text. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]);
}

/** Milliseconds as readable text: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`, `3 d 4 h`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimZero(ms / 1_000)} s`;
  const [unit, smaller] = PAIRS.find(([{ below }]) => ms < below) ?? DAYS;
  const whole = Math.floor(ms / unit.ms);
  const rest = Math.round((ms % unit.ms) / smaller.ms);
  return rest === 0 ? `${whole} ${unit.name}` : `${whole} ${unit.name} ${rest} ${smaller.name}`;
}

// Days are used from two days on: "26 h" is easier to read than "1 d 2 h".
const DAYS = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
] as const;
const PAIRS = [
  [
    { name: 'min', ms: 60_000, below: 3_600_000 },
    { name: 's', ms: 1_000 },
  ],
  [
    { name: 'h', ms: 3_600_000, below: 2 * 86_400_000 },
    { name: 'min', ms: 60_000 },
  ],
] as const;

function trimZero(seconds: number): string {
  return seconds.toFixed(1).replace(/\.0$/, '');
}
