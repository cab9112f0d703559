/** Who made a change, in words. Pure. */
import type { Words } from './words.js';

/** `by 정하은`, `by the workflow “데이터 이관”`. What follows from another change was made by no person. */
export function whoText(
  { type, name }: { type: string; name: string | null },
  { t, word }: Pick<Words, 't'> & { word: (group: 'actor' | 'machine', name: string) => string },
): string {
  if (type === 'field') return t('event.byItself');
  const isNamed = name !== null && name !== '';
  if (type === 'user') return t('event.by', { name: isNamed ? name : word('actor', type) });
  if (!isNamed) return t('event.bySome', { kind: word('actor', type) });
  return t('event.byMachine', { kind: word('machine', type), name });
}
