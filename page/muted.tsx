/** The records of which a subscription says nothing, with a button that undoes it. Not shown where there are none. */
import { act, pathOf, type Answered } from './api.js';
import { Action } from './action.js';
import { placeOf, usePolled } from './hooks.js';
import { usePreferences } from './preferences.js';

type Muted = Answered<'listMuted'>['muted'][number];

export function MutedRecords({ subscription, canAct }: { subscription: string; canAct: boolean }) {
  const { t } = usePreferences();
  const { value, again } = usePolled(pathOf('listMuted', { subscription }), 30_000);
  if (value === null || value.muted.length === 0) return null;
  return (
    <section class="card" aria-label={t('muted.title')}>
      <h3>{t('muted.title')}</h3>
      <p class="quiet">{t('muted.intro')}</p>
      <ul>
        {value.muted.map((one) => (
          <One key={`${one.workspace} ${one.list} ${one.id}`} {...{ one, subscription, canAct }} again={again} />
        ))}
      </ul>
    </section>
  );
}

interface OneProps {
  one: Muted;
  subscription: string;
  canAct: boolean;
  again: () => void;
}

function One({ one: { workspace, list, id, title, until }, subscription, canAct, again }: OneProps) {
  const { t, word, dateTime } = usePreferences();
  const run = async (): Promise<null> => {
    await act('unmute', { subscription, workspace, list, id });
    again();
    return null;
  };
  return (
    <li>
      <span class="kind">{word('list', list)}</span>{' '}
      <a href={placeOf('records', { workspace, list, id })}>{title ?? id}</a>{' '}
      <span class="quiet">{until === null ? t('muted.forGood') : t('muted.till', { until: dateTime(until) })}</span>{' '}
      {canAct && (
        <Action label={t('muted.undo')} name={`${t('muted.undo')}: ${title ?? id}`} run={run}>
          <p>{t('muted.question')}</p>
        </Action>
      )}
    </li>
  );
}
