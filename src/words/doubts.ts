/** Why a condition of a subscription can hold for no record, as a sentence. Pure. */
import type { WordKey, Words } from './words.js';

export interface Doubt {
  why: 'missing' | 'type' | 'masked' | 'template' | 'unseen';
  field: string;
  /** The types of values that it asks for; of `unseen`, the value. */
  wants: readonly string[];
  /** The types of values that the records have. */
  has: readonly string[];
  /** In how many records the value was looked for. */
  read?: number | undefined;
}

export function doubtText({ why, field, wants, has, read = 0 }: Doubt, t: Words['t']): string {
  const typed = (types: readonly string[]): string => types.map((one) => t(TYPES[one] ?? 'type.other')).join(', ');
  return t(`doubt.${why}`, {
    field,
    wants: why === 'unseen' ? wants.join(', ') : typed(wants),
    has: typed(has),
    count: read,
  });
}

const TYPES: Readonly<Record<string, WordKey>> = {
  string: 'type.text',
  number: 'type.number',
  boolean: 'type.boolean',
  time: 'type.time',
  reference: 'type.reference',
  list: 'type.list',
};
