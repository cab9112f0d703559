/** One box: what became of the changes of a record for one receiver, in a sentence. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { act, messageOf, type Delivery, type Subscription } from './api.js';
import { SendAgain, Why } from './deliveries.js';
import { placeOf, useSettled } from './hooks.js';
import { useNames, useSaid } from './names.js';
import { Choice, TextField } from './parts.js';
import { usePreferences } from './preferences.js';

const MOST = 5;

interface Answer {
  deliveries: readonly Delivery[];
  isPart: boolean;
}

/** The newest changes of what is called so, each with what became of it. */
async function answerFor(subscription: string, search: string): Promise<Answer> {
  const { tried, next } = await act('trySubscription', { subscription, search, last: '7d', examples: MOST });
  const all = await Promise.all(
    tried.toReversed().map(async ({ id }) => {
      const { deliveries } = await act('listDeliveries', { event: id });
      return deliveries.filter((one) => one.subscription === subscription).slice(0, 1);
    }),
  );
  return { deliveries: all.flat(), isPart: next !== null };
}

export function WhyNot({ subscriptions }: { subscriptions: readonly Subscription[] }) {
  const { t } = usePreferences();
  const nameOf = useNames();
  const asked = subscriptions.filter(({ on }) => on.length > 0);
  const [chosen, setChosen] = useState('');
  const [search, setSearch] = useState('');
  const subscription = asked.find(({ name }) => name === chosen) ?? asked[0];
  const settled = useSettled({ name: subscription?.name ?? '', search: search.trim() }, 400);
  const [answer, setAnswer] = useState<Answer | { error: string } | null>(null);
  useEffect(() => {
    setAnswer(null);
    if (settled.search === '' || settled.name === '') return;
    let ended = false;
    answerFor(settled.name, settled.search)
      .then((found) => !ended && setAnswer(found))
      .catch((failure: unknown) => !ended && setAnswer({ error: messageOf(failure) }));
    return () => void (ended = true);
  }, [settled.name, settled.search]);
  if (subscription === undefined) return null;
  return (
    <section class="card" aria-label={t('why.title')}>
      <h2>{t('why.title')}</h2>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          <Choice
            label={t('why.where')}
            value={subscription.name}
            onChoose={setChosen}
            options={asked.map(({ name }) => [name, nameOf(name)])}
          />
          <TextField label={t('why.name')} value={search} onText={setSearch} />
        </div>
      </form>
      <div role="status">
        {settled.search !== '' &&
          (answer === null ? (
            <p class="quiet">{t('counting')}</p>
          ) : 'error' in answer ? (
            <p class="bad-text">{answer.error}</p>
          ) : (
            <Said {...answer} isPaused={subscription.paused !== null} />
          ))}
      </div>
    </section>
  );
}

function Said({ deliveries, isPart, isPaused }: Answer & { isPaused: boolean }) {
  const { t, kind } = usePreferences();
  if (deliveries.length === 0) return <p>{t(isPart ? 'why.more' : 'why.none')}</p>;
  return (
    <ul class="plain-list">
      {deliveries.map((one) => (
        <li key={one.eventId}>
          <span class="kind">{kind(one.type)}</span>{' '}
          {one.list === null ? (
            (one.title ?? one.record)
          ) : (
            <a href={placeOf('records', { workspace: one.workspace, list: one.list, id: one.record })}>
              {one.title ?? one.record}
            </a>
          )}
          : <Became delivery={one} isPaused={isPaused} /> <SendAgain delivery={one} />
        </li>
      ))}
    </ul>
  );
}

function Became({ delivery, isPaused }: { delivery: Delivery; isPaused: boolean }): ComponentChildren {
  const { t, word, dateTime } = usePreferences();
  const said = useSaid();
  const { outcome, at, reason, words, digest, refusedBy } = delivery;
  const when = at === null ? '' : dateTime(at);
  if (outcome === 'delivered')
    return digest === null ? t('why.delivered', { when }) : t('why.digest', { when, count: digest.events });
  if (outcome === 'skipped') return t('why.skipped', { reason: word('reason', reason ?? '') });
  if (outcome === 'pending' && isPaused) return t('why.paused');
  return (
    <>
      {t(`why.${outcome}`)} {refusedBy !== null && <Why refusedBy={refusedBy} />}
      {words !== null && <span class="message">“{said(words)}”</span>}
    </>
  );
}
