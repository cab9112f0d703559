/** A workspace's own rules about fields, compiled once per list: what to leave out, what counts as system-kept. */
import type { ListName } from '../events/lists.js';
import { compilePattern } from '../events/pattern.js';
import { isStampField, systemKeptFields } from './fields.js';

export interface FieldRules {
  /** Field patterns (`*` for any run of characters) that never make an event. */
  ignore?: readonly string[];
  /** When given, nothing but fields that match makes an event. */
  only?: readonly string[] | undefined;
  /** Further fields that the system keeps: changes of these alone are `refreshed`. */
  refreshed?: readonly string[];
  /** Null, absent and an empty list mean the same. @defaultValue true */
  nullIsAbsent?: boolean | undefined;
  /** A stamp that moved with equal content makes an `updated` event without changes. @defaultValue false */
  touch?: boolean | undefined;
  /** A field that appears, vanishes or changes form on nearly all rows is one schema event. @defaultValue true */
  collapse?: boolean | undefined;
}

/** How todos are watched. */
export interface TodoWatch {
  /** IANA name: where a day ends. */
  readonly timeZone: string;
  /** How long before it is due a todo is due soon. */
  readonly dueSoonMs: number;
}

export interface Rules {
  readonly list: ListName;
  readonly nullIsAbsent: boolean;
  readonly touch: boolean;
  readonly collapse: boolean;
  /** Null: what follows from a todo's changes is not told, and no time is kept for it. */
  readonly watch: TodoWatch | null;
  /** Does the field take part in the comparison? */
  readonly compares: (field: string) => boolean;
  /** Does the system keep the field by itself? */
  readonly isSystemKept: (field: string) => boolean;
  /** The rule that keeps a field out of the comparison, as a person would name it; null when it takes part. */
  readonly mutedBy: (field: string) => string | null;
}

export function compileRules(list: ListName, options: FieldRules = {}, watch: TodoWatch | null = null): Rules {
  const { ignore = [], only, refreshed = [], nullIsAbsent = true, touch = false, collapse = true } = options;
  const ignoring = ignore.map((pattern) => ({ pattern, matches: matcher([pattern]) }));
  const wanted = only === undefined ? () => true : matcher(only);
  const mutedBy = (field: string): string | null => {
    if (isStampField(field)) return 'stamp';
    const rule = ignoring.find(({ matches }) => matches(field));
    if (rule !== undefined) return `ignore: ${rule.pattern}`;
    return wanted(field) ? null : 'only';
  };
  return {
    list,
    nullIsAbsent,
    touch,
    collapse,
    watch: list === 'todo' ? watch : null,
    compares: (field) => mutedBy(field) === null,
    isSystemKept: matcher([...systemKeptFields(list), ...refreshed]),
    mutedBy,
  };
}

/** What a decision names as its rule when a change of the schema explains it. */
export const SCHEMA_RULE = 'schema';

/** The same rules with some fields left out of the comparison: those a schema change has moved. */
export function withoutFields(rules: Rules, fields: ReadonlySet<string>): Rules {
  if (fields.size === 0) return rules;
  const mutedBy = (field: string): string | null => (fields.has(field) ? SCHEMA_RULE : rules.mutedBy(field));
  return { ...rules, mutedBy, compares: (field) => mutedBy(field) === null };
}

/** The same rules with every field compared: shows what a rule has muted. */
export function withEveryField(rules: Rules): Rules {
  return { ...rules, compares: (field) => !isStampField(field) };
}

/** Patterns are compared under NFC: the same Korean name may be typed in two ways. */
function matcher(patterns: readonly string[]): (field: string) => boolean {
  const compiled = patterns.map((pattern) => compilePattern(pattern.normalize('NFC')));
  return (field) => compiled.some((matches) => matches(field));
}
