/** Rules that are ready to be taken: a new rule begins with one by a click, and is changed as any other. */
import type { About } from '../api.js';
import { usePreferences } from '../preferences.js';
import { ofVerb, PEOPLE, typesOf, type Draft, type Pair, type RuleData } from './draft.js';

/** Lists may be switched off: the first object that is there is meant. */
export interface Ready {
  name: 'grade' | 'untouched' | 'won' | 'lost' | 'overdue' | 'owner';
  objects: readonly string[];
  verb: string;
  conditions?: readonly Pair[];
  unchanged?: NonNullable<RuleData['unchanged']>;
}

/** The documentation of the CRM and its answers have different words. */
const closed = (...words: string[]): Pair[] => [
  ['상태', { changes: true }],
  ['after.상태', words],
];

const READY: readonly Ready[] = [
  { name: 'grade', objects: ['person', 'organization'], verb: 'updated', conditions: [['등급', { becomes: 'A' }]] },
  { name: 'untouched', objects: ['deal', 'person'], verb: 'unchanged', unchanged: { for: '30d' } },
  { name: 'won', objects: ['deal'], verb: 'updated', conditions: closed('성사', 'Won', 'won') },
  { name: 'lost', objects: ['deal'], verb: 'updated', conditions: closed('실패', 'Lost', 'lost') },
  { name: 'overdue', objects: ['todo'], verb: 'overdue' },
  { name: 'owner', objects: ['deal', 'person'], verb: 'updated', conditions: [[PEOPLE, { changes: true }]] },
];

/** Those of lists that are there. */
export function readyFor({ workspaces }: About) {
  const swept = new Set(workspaces.flatMap(({ lists }) => lists.flatMap((one) => (one.enabled ? [one.object] : []))));
  return READY.flatMap((one) => {
    const object = one.objects.find((name) => swept.has(name));
    return object === undefined ? [] : [{ ...one, object }];
  });
}

/** @param first a new rule as it is before anything was chosen */
export function draftOfReady(
  { object, verb, conditions = [], unchanged }: Ready & { object: string },
  first: Draft,
): Draft {
  const rule = { ...first.rule, on: typesOf(object, verb), ...(unchanged && { unchanged }) };
  return { ...first, rule: ofVerb(rule, verb), conditions };
}

interface ReadyProps {
  about: About;
  /** A new rule as it is before anything was chosen. */
  first: Draft;
  take: (draft: Draft) => void;
}

export function ReadyRules({ about, first, take }: ReadyProps) {
  const { t } = usePreferences();
  const ready = readyFor(about);
  const hasTodos = about.workspaces.some(({ lists }) =>
    lists.some(({ object, enabled }) => enabled && object === 'todo'),
  );
  return (
    <p class="actions above" role="group" aria-label={t('rules.ready')}>
      <span class="quiet">{t('rules.ready')}</span>
      {ready.map((one) => (
        <button key={one.name} type="button" onClick={() => take(draftOfReady(one, first))}>
          {t(`rules.ready.${one.name}`)}
        </button>
      ))}
      {hasTodos && (
        <button
          type="button"
          onClick={() =>
            take({ ...first, rule: { ...first.rule, report: { what: 'todos', at: '09:00', days: 'mon-fri' } } })
          }
        >
          {t('rules.ready.report')}
        </button>
      )}
      <button
        type="button"
        onClick={() =>
          take({ ...first, rule: { ...first.rule, report: { what: 'changes', at: '09:00', days: ['mon'] } } })
        }
      >
        {t('rules.ready.week')}
      </button>
    </p>
  );
}
