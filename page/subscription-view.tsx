/** One subscription: where it delivers and what it selects, how the last hour went, its newest deliveries, and what to do about it. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { act, messageOf, pathOf, type About, type Answered, type Subscription } from './api.js';
import { Action } from './action.js';
import { Answer, NewestDeliveries, Outcome } from './deliveries.js';
import { placeOf, usePolled } from './hooks.js';
import { MutedRecords } from './muted.js';
import { Named } from './names.js';
import { NamedFacts } from './parts.js';
import { Replay, Replays, Skip, TestEvent } from './subscription-actions.js';
import { usePreferences } from './preferences.js';
import { Copy } from './verify.js';

type Details = Answered<'describeSubscription'>;
type Tried = Answered<'trySubscription'>;

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
  const { name, on } = subscription;
  // A report is not made of events: there are none to try, to test it with or to send again.
  const getsEvents = on.length > 0;
  const { value: details, error } = usePolled(pathOf('describeSubscription', { subscription: name }), 5_000);
  return (
    <>
      <p class="back">
        <a href="#/subscriptions">← {t('subscriptions.title')}</a>
      </p>
      <div class="head">
        <h1>
          <Named name={name} />
        </h1>
        <p class="actions">
          {getsEvents && <Try name={name} />}
          {canAct && getsEvents && (
            <>
              <TestEvent subscription={subscription} about={about} />
              <Replay subscription={subscription} again={again} />
              <Skip subscription={subscription} again={again} />
            </>
          )}
          {canAct && pause}
        </p>
      </div>
      {state}
      <Replays subscription={subscription} again={again} canAct={canAct} />
      {details?.mutable === true && <MutedRecords subscription={name} canAct={canAct} />}
      {details === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        <>
          <LastHour details={details} subscription={subscription} />
          <Copy subscription={subscription} isReadable={details.copy} canAct={canAct} again={again} />
          <Facts details={details} to={subscription.to} />
        </>
      )}
      <NewestDeliveries subscription={name} keepsReceipts={details?.receipts !== null} />
    </>
  );
}

function LastHour({ details: { lastHour, receipts }, subscription }: { details: Details; subscription: Subscription }) {
  const { t, number, percent, duration, took } = usePreferences();
  const { name, lagEvents, lagSeconds, dead } = subscription;
  const { attempts, p50Ms, p95Ms, successShare: share } = lastHour;
  const time = (ms: number | null): string => (ms === null ? '–' : took(ms));
  const lag = lagEvents === null ? '–' : number(lagEvents);
  return (
    <NamedFacts
      class="tiles"
      label={t('sub.lastHour')}
      facts={[
        [t('sub.success'), share === null ? '–' : percent(share), share === null || share >= 0.95 ? '' : 'bad'],
        [t('sub.attempts'), receipts === null && attempts === 0 ? '–' : number(attempts)],
        [t('sub.p50'), time(p50Ms)],
        [t('sub.p95'), time(p95Ms)],
        [t('sub.lag'), <span title={duration((lagSeconds ?? 0) * 1_000)}>{lag}</span>],
        [t('sub.dead'), <DeadCount name={name} dead={dead} />, dead > 0 ? 'bad' : ''],
      ]}
    />
  );
}

export function DeadCount({ name, dead }: { name: string; dead: number }) {
  const { number } = usePreferences();
  return dead === 0 ? number(dead) : <a href={placeOf('dead', { subscription: name })}>{number(dead)}</a>;
}

const OPTIONS = ['on', 'unchanged', 'workspaces', 'lists', 'class', 'fields', 'from', 'notFrom', 'where'] as const;

function Facts({ details, to }: { details: Details; to: string | null }) {
  const { t, word, number, duration } = usePreferences();
  const textOf = (value: unknown): string => {
    if (Array.isArray(value)) return value.map(textOf).join(', ');
    if (typeof value === 'string') return value;
    return isActor(value) ? `${word('actor', value.type)} ${value.id}` : JSON.stringify(value);
  };
  const { address, selection, retry, order, whenDead, receipts, lastAnswer } = details;
  const facts: [string, ComponentChildren][] = [
    [t('sub.address'), [to, address ?? t('sub.noAddress')].filter((one) => one !== null).join(' · ')],
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
      // A report selects no events.
      if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return [];
      return [[t(`select.${option}`), <code class="wrap">{textOf(value)}</code>]];
    }),
  ];
  return (
    <section class="card">
      <p>
        {t('sub.lastAnswer')}:{' '}
        {lastAnswer === null ? (
          <span class="quiet">{t(receipts === null ? 'sub.notKept' : 'sub.noDeliveries')}</span>
        ) : (
          <>
            <Outcome delivery={lastAnswer} /> <Answer delivery={lastAnswer} isShort={false} />
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

const EXAMPLES = 3;

/** What it would have got: nothing is sent, so that who only reads may ask too. */
function Try({ name }: { name: string }) {
  const { t } = usePreferences();
  const call = { subscription: name, last: '7d', examples: EXAMPLES };
  const run = async (): Promise<ComponentChildren> => (
    <TriedText call={call} first={await act('trySubscription', call)} />
  );
  return (
    <Action label={t('try.label')} title={t('try.title')} sure={t('try.sure')} run={run}>
      <p>{t('try.what')}</p>
    </Action>
  );
}

/** A log that takes longer than a second is read in several answers, the newest events first. */
function TriedText({ call, first }: { call: { subscription: string }; first: Tried }) {
  const { t, kind, number, times } = usePreferences();
  const [sum, setSum] = useState(first);
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => {
    if (sum.next === null) return;
    let ended = false;
    act('trySubscription', { ...call, from: sum.next })
      .then((older) => !ended && setSum(together(sum, older)))
      .catch((error: unknown) => !ended && setFailed(messageOf(error)));
    return () => void (ended = true);
  }, [sum]);
  const { read, selected, byType, refused, tried, next } = sum;
  return (
    <>
      <p>{t('try.found', { selected: number(selected), count: number(read) })}</p>
      {next !== null && <p role="status">{failed ?? t('counting')}</p>}
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

function together(newer: Tried, older: Tried): Tried {
  const byType = { ...older.byType };
  for (const [type, events] of Object.entries(newer.byType)) byType[type] = (byType[type] ?? 0) + events;
  const reasons = new Map<string, Tried['refused'][number]>();
  for (const one of [...newer.refused, ...older.refused]) {
    const reason = `${one.option} ${one.condition ?? ''}`;
    reasons.set(reason, { ...one, events: one.events + (reasons.get(reason)?.events ?? 0) });
  }
  return {
    ...older,
    read: newer.read + older.read,
    selected: newer.selected + older.selected,
    byType,
    refused: [...reasons.values()].sort((one, other) => other.events - one.events),
    tried: [...older.tried, ...newer.tried].slice(-EXAMPLES),
  };
}
