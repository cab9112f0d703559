/** Events that could not be handled: why, and what to do with them. */
import { useState } from 'preact/hooks';
import { act, pathWith, type DeadLetter } from '../api.js';
import type { SectionProps } from '../app.js';
import { EventItem } from '../event-item.js';
import { placeOf, useNow, usePlace, usePolled } from '../hooks.js';
import { usePreferences } from '../preferences.js';

interface Answer {
  deadLetters: DeadLetter[];
}

type Done = { action: 'retry' | 'drop'; count: number } | { failed: string };

export function DeadLetters({ status, again, canAct }: SectionProps) {
  const { t, number } = usePreferences();
  const chosen = usePlace().query.get('subscription') ?? '';
  const letters = usePolled<Answer>(pathWith('/api/dead-letters', { subscription: chosen }), 5_000);
  const [done, setDone] = useState<Done | null>(null);
  const names = status?.subscriptions.map(({ name }) => name) ?? [];
  const send = (action: 'retry' | 'drop', subscription: string, ids?: string[]): void => {
    act('POST', `/api/dead-letters/${action}`, { subscription, ...(ids !== undefined && { ids }) })
      .then(({ count }) => setDone({ action, count }))
      .catch((failure: unknown) => setDone({ failed: failure instanceof Error ? failure.message : '' }))
      .finally(() => {
        letters.again();
        again();
      });
  };
  return (
    <>
      <div class="head">
        <h1>{t('dead.title')}</h1>
        <p class="quiet">{t('dead.intro')}</p>
      </div>
      {!canAct && <p class="quiet">{t('read.only')}</p>}
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          <label>
            {t('dead.subscription')}
            <select
              value={chosen}
              onChange={(event) => (location.hash = placeOf('dead', { subscription: event.currentTarget.value }))}
            >
              <option value="">{t('filter.all')}</option>
              {names.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
          {canAct && chosen !== '' && (letters.value?.deadLetters.length ?? 0) > 0 && (
            <>
              <button type="button" onClick={() => send('retry', chosen)}>
                {t('dead.retryAll', { name: chosen })}
              </button>
              <Drop
                label={t('dead.dropAll', { name: chosen })}
                question={t('dead.dropAllSure', { name: chosen })}
                onSure={() => send('drop', chosen)}
              />
            </>
          )}
        </div>
      </form>
      <p role="status" class={done !== null && 'failed' in done ? 'notice bad' : done === null ? '' : 'notice good'}>
        {done !== null &&
          ('failed' in done
            ? done.failed
            : t(done.action === 'retry' ? 'dead.retried' : 'dead.dropped', { count: number(done.count) }))}
      </p>
      {letters.value === null ? (
        <p class="quiet">{letters.error ?? t('loading')}</p>
      ) : letters.value.deadLetters.length === 0 ? (
        <p class="empty">{t('dead.none')}</p>
      ) : (
        <ul class="letters">
          {letters.value.deadLetters.map((letter) => (
            <Letter key={`${letter.subscription} ${letter.id}`} letter={letter} canAct={canAct} send={send} />
          ))}
        </ul>
      )}
    </>
  );
}

interface LetterProps {
  letter: DeadLetter;
  canAct: boolean;
  send: (action: 'retry' | 'drop', subscription: string, ids: string[]) => void;
}

function Letter({ letter: { id, subscription, reason, diedAt, attempts, event }, canAct, send }: LetterProps) {
  const { t, ago, dateTime } = usePreferences();
  const now = useNow(5_000);
  return (
    <li class="card letter">
      <p class="what">
        <span class="mark bad">{subscription}</span>
        <span class="reason">{reason}</span>
        <time dateTime={diedAt} title={dateTime(diedAt)}>
          {ago(diedAt, now)}
        </time>
      </p>
      <ol class="feed inner">
        <EventItem event={event} now={now} />
      </ol>
      {attempts.length > 0 && (
        <details>
          <summary>{t('dead.attempts', { count: attempts.length })}</summary>
          <ol class="attempts">
            {attempts.map(({ at, message }, index) => (
              <li key={index}>
                {typeof at === 'string' && <time dateTime={at}>{dateTime(at)}</time>} {message ?? ''}
              </li>
            ))}
          </ol>
        </details>
      )}
      {canAct && (
        <p class="actions">
          <button type="button" class="main" onClick={() => send('retry', subscription, [id])}>
            {t('dead.retry')}
          </button>
          <Drop label={t('dead.drop')} question={t('dead.dropSure')} onSure={() => send('drop', subscription, [id])} />
        </p>
      )}
    </li>
  );
}

/** Asks before something is lost. */
function Drop({ label, question, onSure }: { label: string; question: string; onSure: () => void }) {
  const { t } = usePreferences();
  const [asking, setAsking] = useState(false);
  const sure = (): void => {
    setAsking(false);
    onSure();
  };
  if (!asking)
    return (
      <button type="button" onClick={() => setAsking(true)}>
        {label}
      </button>
    );
  return (
    <span class="sure" role="group" aria-label={question}>
      <span>{question}</span>
      <button type="button" class="danger" onClick={sure} ref={(element) => element?.focus()}>
        {t('confirm.yes')}
      </button>
      <button type="button" onClick={() => setAsking(false)}>
        {t('confirm.no')}
      </button>
    </span>
  );
}
