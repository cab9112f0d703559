const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** `'30s'`, `'15m'`, `'7d'`, `'250ms'`, `'1.5h'` as milliseconds; undefined when it is none of these. */
export function parseDuration(text: string): number | undefined {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)$/.exec(text.trim());
  if (match === null) return undefined;
  return Math.round(Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS]);
}

/** Milliseconds the way a person says them: `850 ms`, `12 s`, `3 min 20 s`, `2 h 5 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${trimZero(ms / 1_000)} s`;
  const [whole, rest, names] =
    ms < 3_600_000
      ? [Math.floor(ms / 60_000), Math.round((ms % 60_000) / 1_000), ['min', 's'] as const]
      : [Math.floor(ms / 3_600_000), Math.round((ms % 3_600_000) / 60_000), ['h', 'min'] as const];
  return rest === 0 ? `${whole} ${names[0]}` : `${whole} ${names[0]} ${rest} ${names[1]}`;
}

function trimZero(seconds: number): string {
  return seconds.toFixed(1).replace(/\.0$/, '');
}
