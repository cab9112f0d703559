/** One subscription: where it delivers and what it selects, how the last hour went, its newest deliveries, and what to do about it. */
import type { ComponentChildren } from 'preact';
import { ask, type About, type Subscription, type SubscriptionDetails, type Tried } from './api.js';
import { Action } from './action.js';
import { Answer, NewestDeliveries, Outcome } from './deliveries.js';
import { NamedFacts } from './facts.js';
import { usePolled } from './hooks.js';
import { Replay, Replays, Skip, TestEvent } from './subscription-actions.js';
import { usePreferences } from './preferences.js';

interface OneProps {
  subscription: Subscription;
  /** The mark of its state, and why it is in it. */
  state: ComponentChildren;
  pause: ComponentChildren;
  about: About;
  canAct: boolean;
  again: () => void;
}

export function OneSubscription({ subscription, state, pause, about, canAct, again }: OneProps) {
  const { t } = usePreferences();
  const { name, handler } = subscription;
  const { value: details, error } = usePolled<SubscriptionDetails>(
    `/api/subscriptions/${encodeURIComponent(name)}`,
    5_000,
  );
  return (
    <>
      <p class="back">
        <a href="#/subscriptions">← {t('subscriptions.title')}</a>
      </p>
      <div class="head">
        <h1>
          {name} <span class="quiet small">{handler}</span>
        </h1>
        <p class="actions">
          <Try name={name} />
          {canAct && (
            <>
              <TestEvent subscription={subscription} about={about} />
              <Replay subscription={subscription} again={again} />
              <Skip subscription={subscription} again={again} />
              {pause}
            </>
          )}
        </p>
      </div>
      {state}
      <Replays subscription={subscription} again={again} canAct={canAct} />
      {details === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        <>
          <LastHour details={details} subscription={subscription} />
          <Facts details={details} />
        </>
      )}
      <NewestDeliveries subscription={name} />
    </>
  );
}

function LastHour({
  details: { lastHour },
  subscription,
}: {
  details: SubscriptionDetails;
  subscription: Subscription;
}) {
  const { t, number, percent, duration, took } = usePreferences();
  const { lagEvents, lagSeconds, dead } = subscription;
  const { successShare: share } = lastHour;
  const time = (ms: number | null): string => (ms === null ? '–' : took(ms));
  const lag = lagEvents === null ? '–' : number(lagEvents);
  return (
    <dl class="tiles" aria-label={t('sub.lastHour')}>
      <div class={share === null || share >= 0.95 ? '' : 'bad'}>
        <dt>{t('sub.success')}</dt>
        <dd>{share === null ? '–' : percent(share)}</dd>
      </div>
      <div>
        <dt>{t('sub.attempts')}</dt>
        <dd>{number(lastHour.attempts)}</dd>
      </div>
      <div>
        <dt>{t('sub.p50')}</dt>
        <dd>{time(lastHour.p50Ms)}</dd>
      </div>
      <div>
        <dt>{t('sub.p95')}</dt>
        <dd>{time(lastHour.p95Ms)}</dd>
      </div>
      <div>
        <dt>{t('sub.lag')}</dt>
        <dd title={duration((lagSeconds ?? 0) * 1_000)}>{lag}</dd>
      </div>
      <div class={dead > 0 ? 'bad' : ''}>
        <dt>{t('sub.dead')}</dt>
        <dd>
          {dead === 0 ? (
            number(dead)
          ) : (
            <a href={`#/dead?subscription=${encodeURIComponent(subscription.name)}`}>{number(dead)}</a>
          )}
        </dd>
      </div>
    </dl>
  );
}

const OPTIONS = ['on', 'workspaces', 'lists', 'class', 'fields', 'from', 'notFrom', 'where'] as const;

function Facts({ details }: { details: SubscriptionDetails }) {
  const { t, word, number, duration } = usePreferences();
  const textOf = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(textOf).join(', ');
    if (typeof value === 'string') return value;
    return isActor(value) ? `${word('actor', value.type)} ${value.id}` : JSON.stringify(value);
  };
  const { address, selection, retry, order, whenDead, receipts, lastAnswer } = details;
  const facts: [string, ComponentChildren][] = [
    [t('sub.address'), address ?? t('sub.noAddress')],
    [
      t('sub.retry'),
      t('sub.retryValue', {
        count: number(retry.attempts),
        first: duration(retry.delayMs),
        longest: duration(retry.maxDelayMs),
      }),
    ],
    [t('sub.whenDead'), t(`sub.whenDead.${whenDead}`)],
    [t('sub.order'), t(`sub.order.${order}`)],
    [
      t('sub.receipts'),
      receipts === null
        ? t('sub.noReceipts')
        : t('sub.receiptsValue', { time: duration(receipts.ageMs), count: number(receipts.number) }),
    ],
    ...OPTIONS.flatMap((option): [string, ComponentChildren][] => {
      const value = selection[option];
      if (value === null || value === undefined) return [];
      return [[t(`select.${option}`), <code class="wrap">{textOf(value)}</code>]];
    }),
  ];
  return (
    <section class="card">
      <p>
        {t('sub.lastAnswer')}:{' '}
        {lastAnswer === null ? (
          <span class="quiet">{t('sub.noDeliveries')}</span>
        ) : (
          <>
            <Outcome delivery={lastAnswer} /> <Answer delivery={lastAnswer} />
          </>
        )}
      </p>
      <NamedFacts facts={facts} />
    </section>
  );
}

function isActor(value: unknown): value is { type: string; id: string } {
  return typeof value === 'object' && value !== null && 'type' in value && 'id' in value;
}

const TRY = '7d';

/** What it would have got: nothing is sent, so that who only reads may ask too. */
function Try({ name }: { name: string }) {
  const { t } = usePreferences();
  const run = async (): Promise<ComponentChildren> => {
    const tried = await ask<Tried>('/api/try', { subscription: name, last: TRY, examples: '3' });
    return <TriedText tried={tried} />;
  };
  return (
    <Action label={t('try.label')} title={t('try.title')} sure={t('try.sure')} run={run}>
      <p>{t('try.what')}</p>
    </Action>
  );
}

function TriedText({ tried: { read, selected, byType, refused, tried } }: { tried: Tried }) {
  const { t, word, number, times } = usePreferences();
  const kind = (type: string): string => {
    const [, object = '', verb = ''] = type.split('.');
    return `${word('object', object)} ${word('verb', verb)}`;
  };
  return (
    <>
      <p>{t('try.found', { selected: number(selected), count: number(read) })}</p>
      <ul class="plain-list">
        {Object.entries<number>(byType).map(([type, count]) => (
          <li key={type}>{`${kind(type)}: ${number(count)}`}</li>
        ))}
      </ul>
      {tried.length > 0 && (
        <p class="quiet">
          {t('try.examples', { names: tried.map(({ title, record }) => times(title ?? record)).join(', ') })}
        </p>
      )}
      {refused.length > 0 && <h3>{t('try.refused')}</h3>}
      <ul class="plain-list">
        {refused.map(({ option, condition, events }) => (
          <li key={`${option} ${condition ?? ''}`}>
            {`${t(`select.${option}`)}: ${number(events)}`} {condition !== null && <code>{condition}</code>}
          </li>
        ))}
      </ul>
    </>
  );
}
