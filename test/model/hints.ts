/** The ids of a hint: right, useless, far too many, or meant to do harm. */
import type { Hint } from './scenario.js';

const MOST = 1_000;

export function hintedIds(
  which: Hint,
  { nth, there, gone }: { nth: number; there: readonly string[]; gone: readonly string[] },
): readonly string[] {
  const one = there[nth % Math.max(1, there.length)] ?? 'none';
  const unknown = Array.from({ length: MOST }, (_, at) => `unknown-${nth}-${at}`);
  switch (which) {
    case 'one':
      return [one];
    case 'unknown':
      return unknown.slice(0, 1);
    case 'gone':
      return gone;
    case 'flood':
      return [...there, ...unknown].slice(0, MOST);
    case 'hostile':
      return [
        '',
        '__proto__',
        'u x',
        'p 1',
        '<script>',
        `content-${one}`,
        `${one}\0`,
        one.toUpperCase(),
        'é'.repeat(200),
      ];
  }
}
