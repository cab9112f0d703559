/** What a rule is called, and the button that saves it; of one that would have sent very many messages a day, it asks first. */
import { Action } from '../action.js';
import { TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import type { Draft } from './draft.js';
import { plain, sentenceOf } from './sentence.js';

/** A day's messages that nobody reads any more. */
const MANY = 200;

interface SaveButtonProps {
  label: string;
  /** How many matches the busiest of the last days had. */
  busiest: number;
  disabled: boolean;
  save: () => void;
}

export function SaveButton({ label, busiest, disabled, save }: SaveButtonProps) {
  const { t, number } = usePreferences();
  if (disabled || busiest <= MANY)
    return (
      <button type="button" class="main" disabled={disabled} onClick={save}>
        {label}
      </button>
    );
  const run = (): Promise<null> => {
    save();
    return Promise.resolve(null);
  };
  return (
    <Action label={label} main run={run}>
      <p>{t('rules.many', { count: number(busiest) })}</p>
    </Action>
  );
}

interface RuleNameProps {
  /** '': it is called by its sentence. */
  name: string;
  /** The rule as it was opened. */
  first: Draft;
  sentence: string;
  setTitle: (title: string) => void;
}

export function RuleName({ name, first, sentence, setTitle }: RuleNameProps) {
  const { t, word, language } = usePreferences();
  // The sentence that it was opened with is no name of its own.
  const take = (title: string): void => setTitle(title === '' ? plain(sentenceOf(first, { word, language })) : title);
  return <TextField label={t('rules.name')} type="text" value={name} placeholder={sentence} onText={take} />;
}
