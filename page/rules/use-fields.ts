/** The fields of the list that a rule is about: their names, kinds, and where to ask for their values. */
import { useMemo } from 'preact/hooks';
import { pathOf, type About } from '../api.js';
import { usePolled } from '../hooks.js';
import * as drafts from './draft.js';
import type { Fields, RuleData } from './draft.js';

export function useFields(rule: RuleData, { workspaces }: About): Fields {
  const { object } = drafts.eventOf(rule);
  const of = workspaces.find(({ name }) => rule.workspaces?.includes(name) ?? true);
  const { name: list, modifiedAt: uncompared = [], kept = [] } = of?.lists.find((one) => one.object === object) ?? {};
  const at = of && list ? { workspace: of.name, list } : null;
  const { value } = usePolled(at && pathOf('readSchema', at), 60_000);
  return useMemo(() => {
    const fields = value?.fields ?? [];
    return {
      names: drafts.byUse(
        fields.map(({ field }) => field),
        kept,
      ),
      uncompared,
      timeZone: of?.timeZone ?? 'UTC',
      kinds: Object.fromEntries(fields.map(({ field, forms }) => [field, drafts.kindOf(forms)])),
      valuesAt: (field) => (at && field ? pathOf('listValues', { ...at, field }) : null),
    };
  }, [value, of?.name, list]);
}
