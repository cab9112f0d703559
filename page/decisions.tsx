/** The decisions that a problem waits for: what a list holds back, and what removed subscriptions have left behind. */
import type { ComponentChildren } from 'preact';
import { Action } from './action.js';
import { act, pathOf, type Answered } from './api.js';
import { usePolled } from './hooks.js';
import { usePreferences } from './preferences.js';

type Held = Answered<'listHeld'>['held'][number];

interface DecisionProps {
  canAct: boolean;
  again: () => void;
}

const OFTEN_MS = 5_000;

interface HeldProps extends DecisionProps {
  /** `removals.held` or `creations.held`. */
  kind: string;
  workspace: string;
  list: string;
}

/** A decision is for the whole list: it says all that the list holds, also where another problem shows it. */
export function HeldRecords({ kind, workspace, list, canAct, again }: HeldProps) {
  const { t, number, word } = usePreferences();
  const all = usePolled(pathOf('listHeld', {}), OFTEN_MS);
  const found = all.value?.held.filter((one) => one.workspace === workspace && one.list === list) ?? [];
  const decide = async (verb: 'accept' | 'discard'): Promise<string> => {
    const { count } = await act(verb, { workspace, list }).finally(() => {
      all.again();
      again();
    });
    return t(`held.${verb}ed`, { count: number(count) });
  };
  const namesOf = (held: readonly Held[]): string =>
    held.flatMap(({ examples }) => examples.map(({ id, title }) => title ?? id)).join(', ');
  const examplesOf = (held: readonly Held[]): ComponentChildren =>
    namesOf(held) !== '' && <p class="quiet">{t('held.examples', { names: namesOf(held) })}</p>;
  const sentences = (verb: 'accept' | 'discard'): ComponentChildren =>
    found.map(({ what, count, of }) => (
      <p key={what}>{t(`held.${what}.${verb}`, { count: number(count), of: number(of), list: word('list', list) })}</p>
    ));
  if (found.length === 0) return null;
  return (
    <>
      {/* The numbers stand in the text of the problem. */}
      {examplesOf(found.filter(({ what }) => kind === `${what}.held`))}
      {canAct && (
        <p class="actions">
          <Action label={t('held.accept')} run={() => decide('accept')}>
            {sentences('accept')}
            {examplesOf(found)}
          </Action>
          <Action label={t('held.discard')} danger run={() => decide('discard')}>
            {sentences('discard')}
          </Action>
        </p>
      )}
    </>
  );
}

/** @param names those of the problem */
export function LeftBehind({ names, canAct, again }: DecisionProps & { names: readonly string[] }) {
  const { t, number } = usePreferences();
  const all = usePolled(pathOf('listLeftBehind', {}), OFTEN_MS);
  const found = all.value?.subscriptions.filter(({ subscription }) => names.includes(subscription)) ?? [];
  const done = (): void => {
    all.again();
    again();
  };
  return (
    <ul class="plain-list">
      {found.map(({ subscription: name, waiting, dead }) => {
        const values = { name, waiting: number(waiting), dead: number(dead) };
        const forget = async (): Promise<null> => {
          await act('forgetSubscription', { subscription: name }).finally(done);
          return null;
        };
        return (
          <li key={name}>
            {t('left.what', values)}
            {canAct && (
              <p class="actions">
                <Action label={t('left.forget')} name={`${t('left.forget')}: ${name}`} danger run={forget}>
                  <p>{t('left.forgetSure', values)}</p>
                </Action>
              </p>
            )}
          </li>
        );
      })}
    </ul>
  );
}

/** The other decision, to put the file back, is made where the file is. */
export function MissingRules({ again }: Pick<DecisionProps, 'again'>) {
  const { t, number } = usePreferences();
  const forget = async (): Promise<string> => {
    const { count } = await act('forgetMissingRules', {}).finally(again);
    return t('forgetMissingRules.done', { count: number(count) });
  };
  return (
    <p class="actions">
      <Action label={t('rules.forgetMissing')} danger run={forget}>
        <p>{t('rules.forgetMissingSure')}</p>
      </Action>
    </p>
  );
}
