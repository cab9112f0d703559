/** The section of subscriptions: what receives the events, how far each is behind, and the switch that pauses it. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { pathOf, type SectionProps, type Subscription } from '../api.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { Named, useNames } from '../names.js';
import { Head, NamedFacts } from '../parts.js';
import { Plot } from '../plot.js';
import { usePreferences } from '../preferences.js';
import { State, Switch } from '../subscription-state.js';
import { DeadCount, OneSubscription } from '../subscription-view.js';
import { WhyNot } from '../why-not.js';

/** Colours of the plot. */
const MOST_SERIES = 6;

export function Subscriptions({ about, status, again, canAct }: SectionProps) {
  const { t } = usePreferences();
  const nameOf = useNames();
  const { query } = usePlace();
  const { value: history } = usePolled(pathOf('readHistory', {}), 5_000);
  const { times, series } = useMemo(() => {
    const samples = history?.samples ?? [];
    const all = new Set(samples.flatMap(({ subscriptions }) => subscriptions.map(({ name }) => name)));
    const names = [...all].slice(0, MOST_SERIES);
    const lagOf = (name: string) =>
      samples.map(({ subscriptions }) => subscriptions.find((one) => one.name === name)?.lagEvents ?? null);
    return {
      times: samples.map(({ at }) => Date.parse(at) / 1_000),
      series: names.map((name, index) => ({ label: nameOf(name), colour: index + 1, values: lagOf(name) })),
    };
  }, [history]);
  if (status === null) return <p class="quiet">{t('loading')}</p>;
  const one = status.subscriptions.find(({ name }) => name === query.get('name'));
  if (one !== undefined)
    return (
      <OneSubscription
        key={one.name}
        subscription={one}
        state={<State subscription={one} />}
        pause={<Switch subscription={one} again={again} />}
        about={about}
        canAct={canAct}
        again={again}
      />
    );
  return (
    <>
      <Head title={t('subscriptions.title')}>{t('subscriptions.intro')}</Head>
      {!canAct && <p class="quiet">{t('read.only')}</p>}
      <WhyNot subscriptions={status.subscriptions} />
      {status.subscriptions.length === 0 && <p class="empty">{t('subscriptions.none')}</p>}
      <ul class="grid">
        {status.subscriptions.map((one) => (
          <Card key={one.name} subscription={one} again={again} canAct={canAct} />
        ))}
      </ul>
      {series.length > 0 && times.length > 0 && (
        <div class="card">
          <Plot title={t('sub.lagPlot')} times={times} series={series} />
        </div>
      )}
      {canAct && about.queues === 'mounted' && (
        <p>
          <a href="./queues" target="_blank" rel="noreferrer">
            {t('queues.open')}
          </a>
        </p>
      )}
      {canAct && about.queues === 'not installed' && (
        <p class="quiet">
          {t('queues.missing')} <code>npm install @bull-board/api @bull-board/fastify</code>
        </p>
      )}
    </>
  );
}

function Card({ subscription, again, canAct }: { subscription: Subscription; again: () => void; canAct: boolean }) {
  const { t, number, duration, kind } = usePreferences();
  const { name, on, lagEvents, lagSeconds, waiting, active, delayed, dead } = subscription;
  const open = ({ target }: Event): void => {
    if ((target as Element).closest('a, button, dialog') === null) location.hash = placeOf('subscriptions', { name });
  };
  const behind =
    lagEvents === null || lagSeconds === null
      ? t('sub.notBegun')
      : lagEvents === 0
        ? t('sub.upToDate')
        : t('sub.lagValue', { count: number(lagEvents), time: duration(lagSeconds * 1_000) });
  const queued = { waiting: number(waiting), active: number(active), delayed: number(delayed) };
  const facts: [string, ComponentChildren][] = [
    [t('sub.lag'), behind],
    [t('sub.rate'), t('sub.rateValue', { count: number(subscription.handledLastMinute) })],
    ...(waiting + active + delayed > 0 ? [[t('sub.waiting'), t('sub.waitingValue', queued)] as [string, string]] : []),
    [t('sub.dead'), <DeadCount name={name} dead={dead} />],
    ...(on.length > 0 ? [[t('sub.on'), on.map(kind).join(', ')] as [string, string]] : []),
  ];
  return (
    <li class="card subscription" onClick={open}>
      <h2>
        <a href={placeOf('subscriptions', { name })}>
          <Named name={name} />
        </a>
      </h2>
      <State subscription={subscription} />
      <NamedFacts facts={facts} />
      {canAct && <Switch subscription={subscription} again={again} />}
    </li>
  );
}
