/** A value in a record, by its path; and whether it is equal to a value of a condition: by type, and texts under NFC. */
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

/** Names may contain spaces and dots, so the longest existing name wins. */
export function valueAtPath(value: unknown, path: string): unknown {
  return follow(value, normal(path));
}

/** Compares existing names with the path: trying each part of a path of many dots takes quadratic time. */
function follow(value: unknown, path: string): unknown {
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  if (Object.hasOwn(fields, path)) return fields[path];
  const steps = Object.keys(fields)
    .map((key) => ({ key, name: normal(key) }))
    .filter(({ name }) => path === name || path.startsWith(`${name}.`))
    .sort((a, b) => b.name.length - a.name.length);
  for (const { key, name } of steps) {
    const found = path === name ? fields[key] : follow(fields[key], path.slice(name.length + 1));
    if (found !== undefined) return found;
  }
  return undefined;
}
