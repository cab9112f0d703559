/** Parts of both the list of rules and the form: the sentence, saving, and the test. */
import { Action } from '../action.js';
import { doubtText } from '../../src/words/doubts.js';
import { act, type Answered, type RulesAnswer } from '../api.js';
import { usePreferences } from '../preferences.js';
import type { RuleData } from './draft.js';

/** What stands between `**` is what was chosen. */
export function Sentence({ text }: { text: string }) {
  return <>{text.split('**').map((part, at) => (at % 2 === 0 ? part : <strong key={at}>{part}</strong>))}</>;
}

/** What holds for no stored record: such a rule would be silent. */
export function Doubts({ doubts }: Pick<RulesAnswer['rules'][number], 'doubts'>) {
  const { t } = usePreferences();
  return (
    <>
      {doubts.map((one) => (
        <p
          key={`${one.why} ${one.field} ${one.wants.join()}`}
          class={`notice ${one.why === 'unseen' ? 'warn' : 'bad'}`}
        >
          {doubtText(one, t)}
        </p>
      ))}
    </>
  );
}

/** Refuses what another has changed meanwhile, in words. */
export async function changed(
  saving: Promise<Answered<'saveRule'>>,
  t: ReturnType<typeof usePreferences>['t'],
): Promise<null> {
  const answer = await saving;
  if (answer.outcome === 'saved') return null;
  throw new Error('why' in answer ? answer.why : t('rules.changed'));
}

export function SendOne({ rule }: { rule: RuleData }) {
  const { t } = usePreferences();
  const send = async (): Promise<string> => {
    const answer = await act('testRule', { id: rule.id, rule: { ...rule } });
    if (answer.outcome === 'refused') throw new Error(answer.why);
    if (answer.sent.outcome !== 'accepted') throw new Error(answer.sent.problem ?? '');
    return t(answer.matched ? 'rules.sent' : 'rules.sentExample', { to: rule.to, record: answer.record });
  };
  return (
    <Action label={t('rules.sendOne')} run={send}>
      <p>{t('rules.sendOneWhat', { to: rule.to })}</p>
    </Action>
  );
}

export function Check({ label, isOn, set }: { label: string; isOn: boolean; set: (isOn: boolean) => void }) {
  return (
    <label class="check">
      <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => set(currentTarget.checked)} /> {label}
    </label>
  );
}
