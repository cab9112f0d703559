/** Shows whether a subscription delivers, and the switch that pauses it. A rule is one, too. */
import { useState } from 'preact/hooks';
import { Action } from './action.js';
import { act, type Subscription } from './api.js';
import { useNames, useSaid } from './names.js';
import { usePreferences } from './preferences.js';

/** Says whether it delivers, and if not, why. */
export function State({ subscription }: { subscription: Subscription }) {
  const { t, dateTime } = usePreferences();
  const said = useSaid();
  const { paused, failingSince, unreadable } = subscription;
  const state = paused !== null ? 'warn' : (failingSince ?? unreadable) !== null ? 'bad' : 'good';
  const stateText =
    paused !== null
      ? t('sub.paused')
      : unreadable !== null
        ? t('sub.unreadable')
        : failingSince !== null
          ? t('sub.failing', { when: dateTime(failingSince) })
          : t('sub.enabled');
  return (
    <>
      <p>
        <span class={`mark ${state}`}>{stateText}</span>
      </p>
      {unreadable !== null && <p class="message">{unreadable}</p>}
      {paused !== null && (
        <p class="message">
          {said(paused.reason)}{' '}
          <span class="quiet">{paused.at !== null && t('sub.since', { when: dateTime(paused.at) })}</span>
        </p>
      )}
    </>
  );
}

export function Switch({ subscription, again }: { subscription: Subscription; again: () => void }) {
  const { t, number } = usePreferences();
  const { name, paused, lagEvents } = subscription;
  const called = useNames()(name);
  const [reason, setReason] = useState('');
  const send = async (action: 'pause' | 'resume', input: { reason?: string } = {}): Promise<null> => {
    await act(action, { subscription: name, ...input }).finally(again);
    return null;
  };
  if (paused !== null)
    return (
      <Action label={t('sub.resume')} name={`${t('sub.resume')}: ${called}`} main run={() => send('resume')}>
        <p>{t('sub.resumeSure', { count: number(lagEvents ?? 0) })}</p>
      </Action>
    );
  return (
    <Action
      label={t('sub.pause')}
      name={`${t('sub.pause')}: ${called}`}
      title={`${t('sub.pause')}: ${called}`}
      onOpen={() => setReason('')}
      run={() => send('pause', reason.trim() === '' ? {} : { reason })}
    >
      <p>{t('sub.pauseSure')}</p>
      <label>
        {t('sub.reason')}
        <input value={reason} maxLength={200} onInput={(event) => setReason(event.currentTarget.value)} autofocus />
      </label>
    </Action>
  );
}
