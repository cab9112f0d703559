/** One condition of a rule, and a choice of several of the values that stored records have. */
import type { RuleValues } from '../api.js';
import { usePolled } from '../hooks.js';
import { Choice, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import * as drafts from './draft.js';
import type { Fields, Operator, Pair, RuleData } from './draft.js';
import { writtenValue } from './values.js';

const HOURLY_MS = 3_600_000;

const LABELS: Readonly<Record<string, 'rules.by' | 'rules.from' | 'rules.into' | 'rules.days.count'>> = {
  by: 'rules.by',
  from: 'rules.from',
  to: 'rules.into',
  inNext: 'rules.days.count',
  ago: 'rules.days.count',
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
  const field = drafts.fieldOf(pair);
  const operator = drafts.operatorOf(pair) ?? 'changes';
  const kindOfField = (name: string) => fields.kinds[name] ?? 'text';
  const kind = kindOfField(field);
  const { timeZone } = fields;
  const isSuggested = ['text', 'reference', 'list'].includes(kind);
  const { value: seen } = usePolled<RuleValues>(isSuggested ? fields.valuesAt(field) : null, HOURLY_MS);
  const [chosen, values] = [drafts.chosenIn(pair), drafts.valuesOf(pair)];
  const faults = new Set(values.map((name) => drafts.faultOf(pair, name)).filter((fault) => fault !== null));
  const offered = fields.names.filter((name) => !fields.uncompared.includes(name));
  const names = [...new Set([...offered, ...(field === '' ? [] : [field])])];
  const choose = (next: string): void =>
    set(drafts.pairOf(next, drafts.operatorsFor(kindOfField(next), verb)[0] ?? 'filled', rule));
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
          onChoose={(next) => set(drafts.pairOf(field, next as Operator, rule))}
          options={drafts.operatorsFor(kind, verb).map((name) => [name, t(`rules.op.${drafts.nameOf(name, kind)}`)])}
        />
        {chosen !== null && kind !== 'boolean' && (
          <Several
            label={t('rules.value')}
            values={chosen.map(String)}
            set={(next) => set(drafts.withChosen(pair, next))}
            seen={seen}
          />
        )}
        {chosen !== null && kind === 'boolean' && (
          <YesOrNo
            label={t('rules.value')}
            value={writtenValue(chosen[0])}
            set={(text) => set(drafts.withChosen(pair, text === '' ? [] : [text === 'true']))}
          />
        )}
        {values.map((name) => {
          const props = { label: t(LABELS[name] ?? 'rules.value'), value: drafts.textIn(pair, name) };
          const type = (text: string): void => set(drafts.withValue(pair, name, text, { kind, timeZone }));
          if (kind === 'boolean') return <YesOrNo key={name} {...props} set={type} />;
          const isDay = kind === 'time' && (name === 'gte' || name === 'lt');
          return (
            <TextField
              key={name}
              {...props}
              type={isDay ? 'date' : 'text'}
              onText={type}
              id={`${name}-${nth}`}
              suggestions={seen?.values ?? []}
            />
          );
        })}
        <button type="button" aria-label={t('rules.removeCondition', { count: nth })} onClick={remove}>
          ×
        </button>
      </div>
      {[...faults].map((fault) => (
        <p key={fault} class="bad-text" role="alert">
          {t(`rules.fault.${fault}`)}
        </p>
      ))}
      {['inNext', 'ago'].includes(operator) && <p class="quiet">{t('rules.atChanges')}</p>}
    </fieldset>
  );
}

function YesOrNo({ label, value, set }: { label: string; value: string; set: (text: string) => void }) {
  const { t } = usePreferences();
  const options = [
    ['', t('rules.choose')],
    ['true', t('value.yes')],
    ['false', t('value.no')],
  ] as const;
  return <Choice label={label} value={value} onChoose={set} options={options} />;
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
