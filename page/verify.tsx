/** Says whether the copy of a subscription is right: what the last comparison found, when, and a button for another one. */
import { Action } from './action.js';
import { act, type Answered, type Subscription } from './api.js';
import { useNow } from './hooks.js';
import { NamedFacts } from './parts.js';
import { usePreferences } from './preferences.js';

const COMPARED = ['equal', 'inFlight', 'behind', 'missing', 'extra'] as const;
const NAMED = ['dead', 'dropped', 'held', 'discarded', 'unreadable', 'erased', 'unjudged'] as const;
const WRONG: ReadonlySet<string> = new Set(['behind', 'missing', 'extra']);

interface CopyProps {
  subscription: Subscription;
  /** What it has written can be read. */
  isReadable: boolean;
  canAct: boolean;
  again: () => void;
}

export function Copy({ subscription, isReadable, canAct, again }: CopyProps) {
  const { t, number, ago } = usePreferences();
  const now = useNow(5_000);
  const { name, verified } = subscription;
  if (verified === null && !isReadable) return null;
  const named = NAMED.filter((one) => (verified?.[one] ?? 0) > 0);
  return (
    <section class="card" aria-label={t('copy.title')}>
      <h2>{t('copy.title')}</h2>
      {verified === null ? (
        <p class="quiet">{t('copy.never')}</p>
      ) : (
        <>
          <p>
            <span class={`mark ${verified.wrong === 0 ? 'good' : 'bad'}`}>
              {verified.wrong === 0 ? t('copy.right') : t('copy.wrong', { count: number(verified.wrong) })}
            </span>{' '}
            <time dateTime={verified.at} class="quiet">
              {t('copy.age', { time: ago(verified.at, now) })}
            </time>
          </p>
          <NamedFacts
            class="tiles"
            label={t('copy.title')}
            facts={COMPARED.map((one) => [
              t(`verify.${one}`),
              number(verified[one]),
              WRONG.has(one) && verified[one] > 0 ? 'bad' : '',
            ])}
          />
          {named.length > 0 && (
            <p class="quiet">
              {t('copy.named', {
                names: named.map((one) => t(`verify.${one}`, { count: number(verified[one]) })).join(', '),
              })}
            </p>
          )}
        </>
      )}
      {canAct && isReadable && (
        <p class="actions">
          <Verify name={name} again={again} />
          {verified !== null && verified.wrong > 0 && <Verify name={name} again={again} repair />}
        </p>
      )}
    </section>
  );
}

function Verify({ name, again, repair = false }: { name: string; again: () => void; repair?: boolean }) {
  const { t } = usePreferences();
  const run = async () => {
    const found = await act('verify', { subscription: name, repair }).finally(again);
    return <Found found={found} />;
  };
  const of = repair ? 'repair' : 'verify';
  return (
    <Action label={t(`copy.${of}`)} title={t(`copy.${of}Title`, { name })} run={run}>
      <p>{t(`copy.${of}What`)}</p>
    </Action>
  );
}

function Found({ found: { wrong, examples, repaired } }: { found: Answered<'verify'> }) {
  const { t, number, word, times } = usePreferences();
  return (
    <>
      <p>{wrong === 0 ? t('copy.right') : t('copy.wrong', { count: number(wrong) })}</p>
      {repaired !== null && <p>{t('verify.repaired', { count: number(repaired) })}</p>}
      <ul class="plain-list">
        {examples.map(({ workspace, list, id, title, found: how, copy, feed }) => (
          <li key={`${workspace} ${list} ${id}`}>
            {`${word('list', list)} · `}
            <strong>{times(title ?? id)}</strong>
            {` · ${t(`verify.example.${how}`, { copy: copy ?? '–', feed: feed ?? '–' })}`}
          </li>
        ))}
      </ul>
    </>
  );
}
