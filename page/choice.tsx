/** A filter with a few values; empty: all. A value that is no option any more stays to be seen. */
import { usePreferences } from './preferences.js';

interface ChoiceProps {
  label: string;
  value: string | undefined;
  onChoose: (value: string) => void;
  options: readonly (readonly [value: string, label: string])[];
}

export function Choice({ label, value = '', onChoose, options }: ChoiceProps) {
  const { t } = usePreferences();
  return (
    <label>
      {label}
      <select value={value} onChange={(event) => onChoose(event.currentTarget.value)}>
        <option value="">{t('filter.all')}</option>
        {value !== '' && !options.some(([one]) => one === value) && <option value={value}>{value}</option>}
        {options.map(([one, text]) => (
          <option key={one} value={one}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
