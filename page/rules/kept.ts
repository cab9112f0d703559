/**
 * What a person has not saved, and rules that were removed a moment ago, kept in this tab: a click on the menu, a reload or the end of the
 * session loses nothing. Signing out drops it.
 */
import { useEffect, useState } from 'preact/hooks';
import type { Draft, RuleData } from './draft.js';

const PREFIX = 'changefeed.rules.';
/** The feeds of one host are told apart by their path. */
const nameOf = (name: string): string => `${PREFIX}${location.pathname}.${name}`;

function read(name: string): unknown {
  try {
    return JSON.parse(sessionStorage.getItem(nameOf(name)) ?? 'null');
  } catch {
    return null;
  }
}

/** A browser may keep nothing; the form then works as it is. */
function keep(name: string, value: object | null): void {
  try {
    if (value === null) sessionStorage.removeItem(nameOf(name));
    else sessionStorage.setItem(nameOf(name), JSON.stringify(value));
  } catch {
    return;
  }
}

export function dropKept(): void {
  try {
    for (const name of Object.keys(sessionStorage)) if (name.startsWith(PREFIX)) sessionStorage.removeItem(name);
  } catch {
    return;
  }
}

interface Kept {
  draft: Draft;
  /** The revision of the file when the draft was begun: who saves over another change is told. */
  revision: string;
}

const draftName = (chosen: string): string => `draft.${chosen}`;
export const hasDraft = (chosen: string): boolean => read(draftName(chosen)) !== null;

/** @param chosen the id of a rule, or `new` */
export function useDraft(chosen: string, first: Kept) {
  const [restored, setRestored] = useState(() => read(draftName(chosen)) as Kept | null);
  const [{ draft, revision }, setKept] = useState(restored ?? first);
  const isUnsaved = draft !== first.draft;
  useEffect(() => {
    if (!isUnsaved) return;
    const asks = (event: Event): void => event.preventDefault();
    addEventListener('beforeunload', asks);
    return () => removeEventListener('beforeunload', asks);
  }, [isUnsaved]);
  const set = (next: Kept): void => {
    keep(draftName(chosen), next);
    setKept(next);
  };
  return {
    draft,
    revision,
    isRestored: restored !== null,
    setDraft: (next: Draft) => set({ draft: next, revision }),
    setRevision: (next: string) => set({ draft, revision: next }),
    /** It is saved, or given up. */
    forget: () => {
      keep(draftName(chosen), null);
      setRestored(null);
      setKept(first);
    },
  };
}

const UNDO_MS = 15 * 60_000;

interface Removed {
  rule: RuleData;
  untilMs: number;
}

export function removedRules(): Removed[] {
  const nowMs = new Date().getTime();
  return ((read('removed') ?? []) as Removed[]).filter(({ untilMs }) => untilMs > nowMs);
}

export function keepRemoved(rule: RuleData): void {
  const others = removedRules().filter((one) => one.rule.id !== rule.id);
  keep('removed', [...others, { rule, untilMs: new Date().getTime() + UNDO_MS }]);
}
