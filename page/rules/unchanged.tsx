/** The part of the form about what has not happened: what, and for how many days. */
import { useState } from 'preact/hooks';
import { Choice, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import { daysOf, RELATED, type RuleData } from './draft.js';
import { readValue } from './values.js';

interface UnchangedProps {
  rule: RuleData;
  setRule: (rule: RuleData) => void;
  /** Of the list that the rule is about. */
  fields: readonly string[];
  /** The names of the lists that are swept. */
  lists: readonly string[];
}

const LONGEST_DAYS = 3_650;
const [RECORD, OTHERS, FIELD] = ['record', 'related', 'field '];

export function UnchangedFields({ rule, setRule, fields, lists }: UnchangedProps) {
  const { t } = usePreferences();
  const { for: length, days, ...what } = rule.unchanged ?? { for: '' };
  const [typed, setTyped] = useState(String(daysOf(rule) ?? ''));
  const related = RELATED.filter((list) => lists.includes(list));
  const set = (part: object, kept: object = what): void =>
    setRule({ ...rule, unchanged: { for: length, ...(days && { days }), ...kept, ...part } });
  const type = (text: string): void => {
    setTyped(text);
    const count = Number(readValue(text, 'most', { kind: 'number', timeZone: 'UTC' }));
    set({ for: Number.isInteger(count) && count >= 1 && count <= LONGEST_DAYS ? `${count}d` : '' });
  };
  const choose = (next: string): void => {
    const field = next.startsWith(FIELD) ? next.slice(FIELD.length) : null;
    set(next === OTHERS ? { related } : field === null ? {} : { field }, {});
  };
  const chosen = what.field !== undefined ? `${FIELD}${what.field}` : what.related === undefined ? RECORD : OTHERS;
  return (
    <>
      <div class="fields">
        <Choice
          label={t('rules.unchanged.what')}
          value={chosen}
          onChoose={choose}
          options={[
            [RECORD, t('rules.unchanged.record')],
            ...(related.length > 0 ? [[OTHERS, t('rules.unchanged.related')] as const] : []),
            ...fields.map((field) => [`${FIELD}${field}`, field] as const),
          ]}
        />
        <TextField label={t('rules.unchanged.for')} value={typed} type="text" onText={type} />
        <Choice
          label={t('rules.unchanged.days')}
          value={days ?? 'calendar'}
          onChoose={(next) => set({ days: next })}
          options={(['calendar', 'working'] as const).map((one) => [one, t(`rules.unchanged.${one}`)])}
        />
      </div>
      {length === '' && typed.trim() !== '' && (
        <p class="bad-text" role="alert">
          {t('rules.unchanged.fault')}
        </p>
      )}
      <p class="faint">{t('rules.unchanged.begins')}</p>
    </>
  );
}
