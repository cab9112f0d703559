/** A workspace's own rules about fields, compiled once per list: what to leave out, what counts as system-kept. */
import type { ListName } from '../events/lists.js';
import { isStampField, systemKeptFields } from './fields.js';

export interface FieldRules {
  /** Field patterns (`*` for any run of characters) that never make an event. */
  ignore?: readonly string[];
  /** When given, nothing but fields that match makes an event. */
  only?: readonly string[] | undefined;
  /** Further fields that the system keeps: changes of these alone are `refreshed`. */
  refreshed?: readonly string[];
}

export interface Rules {
  readonly list: ListName;
  /** Does the field take part in the comparison? */
  compares(field: string): boolean;
  /** Does the system keep the field by itself? */
  isSystemKept(field: string): boolean;
}

export function compileRules(list: ListName, { ignore = [], only, refreshed = [] }: FieldRules = {}): Rules {
  const ignored = matcher(ignore);
  const wanted = only === undefined ? () => true : matcher(only);
  return {
    list,
    compares: (field) => !isStampField(field) && wanted(field) && !ignored(field),
    isSystemKept: matcher([...systemKeptFields(list), ...refreshed]),
  };
}

/** Patterns are compared under NFC: the same Korean name may be typed in two ways. */
function matcher(patterns: readonly string[]): (field: string) => boolean {
  const expressions = patterns.map((pattern) => {
    const parts = pattern.normalize('NFC').split('*');
    return new RegExp(`^${parts.map(escapeExpression).join('.*')}$`, 'su');
  });
  return (field) => expressions.some((expression) => expression.test(field));
}

function escapeExpression(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
