/** One condition of a rule, and a choice of several of the values that stored records have. */
import type { RuleValues } from '../api.js';
import { usePolled } from '../hooks.js';
import { Choice, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import {
  fieldOf,
  operatorOf,
  operatorsFor,
  pairOf,
  textIn,
  valuesOf,
  withValue,
  type Fields,
  type Operator,
  type Pair,
  type RuleData,
} from './draft.js';

const HOURLY_MS = 3_600_000;

const LABELS: Readonly<Record<string, 'rules.by' | 'rules.from' | 'rules.into'>> = {
  by: 'rules.by',
  from: 'rules.from',
  to: 'rules.into',
};

interface ConditionProps {
  nth: number;
  pair: Pair;
  rule: RuleData;
  verb: string;
  fields: Fields;
  set: (pair: Pair) => void;
  remove: () => void;
}

export function ConditionFields({ nth, pair, rule, verb, fields, set, remove }: ConditionProps) {
  const { t } = usePreferences();
  const field = fieldOf(pair);
  const operator = operatorOf(pair) ?? 'changes';
  const kindOfField = (name: string) => fields.kinds[name] ?? 'text';
  const kind = kindOfField(field);
  const { value: seen } = usePolled<RuleValues>(kind === 'number' ? null : fields.valuesAt(field), HOURLY_MS);
  const offered = fields.names.filter((name) => !fields.uncompared.includes(name));
  const names = [...new Set([...offered, ...(field === '' ? [] : [field])])];
  const choose = (next: string): void => set(pairOf(next, operatorsFor(kindOfField(next), verb)[0] ?? 'filled', rule));
  return (
    <fieldset class="condition">
      <legend>{t('rules.condition', { count: nth })}</legend>
      <div class="fields">
        <Choice
          label={t('rules.field')}
          value={field}
          onChoose={choose}
          options={['', ...names].map((name) => [name, name === '' ? t('rules.choose') : name])}
        />
        <Choice
          label={t('rules.does')}
          value={operator}
          onChoose={(next) => set(pairOf(field, next as Operator, rule))}
          options={operatorsFor(kind, verb).map((name) => [name, t(`rules.op.${name}`)])}
        />
        {operator === 'is' && (
          <Several
            label={t('rules.value')}
            values={pair[1] as string[]}
            set={(next) => set([pair[0], next])}
            seen={seen}
          />
        )}
        {valuesOf(pair).map((name) => (
          <TextField
            key={name}
            label={t(LABELS[name] ?? 'rules.value')}
            value={textIn(pair, name)}
            type="text"
            onText={(text) => set(withValue(pair, name, text, kind))}
            id={`${name}-${nth}`}
            suggestions={kind === 'boolean' ? ['true', 'false'] : (seen?.values ?? [])}
          />
        ))}
        <button type="button" aria-label={t('rules.removeCondition', { count: nth })} onClick={remove}>
          ×
        </button>
      </div>
    </fieldset>
  );
}

interface SeveralProps {
  label: string;
  values: readonly string[];
  set: (values: string[]) => void;
  seen: RuleValues | null;
}

function Several({ label, values, set, seen }: SeveralProps) {
  const { t } = usePreferences();
  const others = (seen?.values ?? []).filter((one) => !values.includes(one));
  return (
    <div class="several">
      <Choice
        label={label}
        value=""
        onChoose={(one) => set([...values, one])}
        options={['', ...others].map((one) => [one, one === '' ? t('rules.choose') : one])}
      />
      {values.map((one) => (
        <button key={one} type="button" onClick={() => set(values.filter((other) => other !== one))}>
          {one} <span aria-hidden="true">×</span> <span class="unseen">{t('rules.without')}</span>
        </button>
      ))}
    </div>
  );
}

/** The choice among references, such as the people in charge. */
export function Owners({ valuesAt, ...props }: Omit<SeveralProps, 'seen'> & { valuesAt: string | null }) {
  const { value } = usePolled<RuleValues>(valuesAt, HOURLY_MS);
  return <Several {...props} seen={value} />;
}
