/** The decisions that a problem waits for: what a list holds back, and what removed subscriptions have left behind. */
import { Action } from './action.js';
import { act, pathOf, type Answered, type Subscription } from './api.js';
import { usePolled } from './hooks.js';
import { patternOf } from './patterns.js';
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
  /** The object of its event types. */
  object: string;
  subscriptions: readonly Subscription[];
}

/** Each kind is decided by itself: who lets new records through need not say that others were deleted. */
export function HeldRecords({ kind, workspace, list, object, subscriptions, canAct, again }: HeldProps) {
  const { t, number, word } = usePreferences();
  const all = usePolled(pathOf('listHeld', {}), OFTEN_MS);
  const held = all.value?.held.find(
    (one) => one.workspace === workspace && one.list === list && kind === `${one.what}.held`,
  );
  if (held === undefined) return null;
  const { what, count, of, examples } = held;
  const values = { count: number(count), of: number(of), list: word('list', list) };
  const decide = async (verb: 'accept' | 'discard'): Promise<string> => {
    const done = await act(verb, { workspace, list, what }).finally(() => {
      all.again();
      again();
    });
    return t(`held.${verb}ed`, { count: number(done.count) });
  };
  const names = examples.map(({ id, title }) => title ?? id).join(', ');
  const told = subscriptions.filter(({ on }) => on.some((one) => patternOf(one).test(`crm.${object}.${VERBS[what]}`)));
  return (
    <>
      {/* The numbers stand in the text of the problem. */}
      {names !== '' && <p class="quiet">{t('held.examples', { names })}</p>}
      {canAct && (
        <p class="actions">
          <Action label={t(`held.${what}.acceptLabel`)} run={() => decide('accept')}>
            <p>{t(`held.${what}.accept`, values)}</p>
            <p>
              {told.length === 0
                ? t('held.toNobody')
                : t('held.to', {
                    names: told.map(({ title, name }) => title ?? name).join(', '),
                    count: number(count),
                  })}
            </p>
          </Action>
          <Action label={t(`held.${what}.discardLabel`)} danger run={() => decide('discard')}>
            <p>{t(`held.${what}.discard`, values)}</p>
          </Action>
        </p>
      )}
    </>
  );
}

const VERBS: Readonly<Record<Held['what'], string>> = { creations: 'created', removals: 'deleted' };

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
