/** A value of a condition, and whether a value of a record is equal to it: by type, and texts under NFC. */
import { z } from 'zod';

export const plain = z.union([z.string(), z.number(), z.boolean(), z.null()]);
export type Plain = z.infer<typeof plain>;

export function equal(wanted: Plain): (value: unknown) => boolean {
  if (typeof wanted === 'string') return (value) => typeof value === 'string' && normal(value) === normal(wanted);
  return wanted === null ? (value) => value === null || value === undefined : (value) => value === wanted;
}

/** A Korean name typed on one system may use another Unicode composition than the one the API sends. */
export function normal(text: string): string {
  return text.normalize('NFC');
}
