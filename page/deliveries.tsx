/** Who got an event: for each subscription when, after how many attempts, with what answer. */
import { useState } from 'preact/hooks';
import { Action } from './action.js';
import { act, pathOf, type Attempt, type Delivery } from './api.js';
import { placeOf, usePolled } from './hooks.js';
import { Named, useCanAct, useNames, useSaid } from './names.js';
import { Choice } from './parts.js';
import { usePreferences } from './preferences.js';
import { SheetButtons } from './sheet.js';

type RefusedBy = NonNullable<Delivery['refusedBy']>;

const TONES: Readonly<Record<Delivery['outcome'], string>> = {
  delivered: 'good',
  retry: 'warn',
  pending: 'warn',
  dead: 'bad',
  skipped: '',
  'not selected': '',
  'no receipt': '',
};

/** @param event its id, or its place in the log */
export function DeliveriesOf({ event }: { event: string }) {
  const { t } = usePreferences();
  const { value, error } = usePolled(pathOf('listDeliveries', { event }), 5_000);
  if (value === null) return <p class="quiet">{error ?? t('loading')}</p>;
  const bySubscription = new Map<string, Delivery[]>();
  for (const row of value.deliveries)
    bySubscription.set(row.subscription, [...(bySubscription.get(row.subscription) ?? []), row]);
  const all = [...bySubscription.values()].sort((one, other) => rankOf(one) - rankOf(other));
  if (all.length === 0) return <p class="quiet">{t('got.nobody')}</p>;
  return (
    <ul class="deliveries">
      {all.map(([newest, ...earlier]) => newest && <Got key={newest.subscription} newest={newest} earlier={earlier} />)}
    </ul>
  );
}

/** Subscriptions that did not select the event come last. */
function rankOf([newest]: readonly Delivery[]): number {
  return newest?.outcome === 'not selected' ? 2 : newest?.outcome === 'no receipt' ? 1 : 0;
}

function Got({ newest, earlier }: { newest: Delivery; earlier: readonly Delivery[] }) {
  const { t } = usePreferences();
  const { subscription, outcome } = newest;
  return (
    <li>
      <a href={placeOf('subscriptions', { name: subscription })}>
        <Named name={subscription} plain />
      </a>{' '}
      <Outcome delivery={newest} /> <Answer delivery={newest} isNewest />
      {newest.refusedBy !== null && <Why refusedBy={newest.refusedBy} />} <SendAgain delivery={newest} />
      {outcome === 'dead' && (
        <>
          {' '}
          <a href={placeOf('dead', { subscription })}>{t('got.toDead')}</a>
        </>
      )}
      {earlier.length > 0 && (
        <ul class="attempts">
          {earlier.map((one, index) => (
            <li key={index}>
              <Outcome delivery={one} /> <Answer delivery={one} />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

/** What waits comes by itself, a dead letter is retried, and what is not selected is not for the receiver. */
const ENDED: readonly Delivery['outcome'][] = ['delivered', 'skipped', 'no receipt'];

/** One event once more, to one receiver. */
export function SendAgain({ delivery }: { delivery: Attempt }) {
  const { t } = usePreferences();
  const canAct = useCanAct();
  const called = useNames()(delivery.subscription);
  const { subscription, workspace, logId, record, type, outcome } = delivery;
  const [count, setCount] = useState<number | null>(null);
  const asked = { subscription, workspace, from: logId, to: logId, record, types: [type] };
  const look = (): void => {
    setCount(null);
    void act('replay', { ...asked, dryRun: true }).then(
      (found) => setCount(found.count),
      () => undefined,
    );
  };
  if (!canAct || !ENDED.includes(outcome) || type.startsWith('changefeed.') || !/^\d+-\d+$/.test(logId)) return null;
  const run = async (): Promise<string> => {
    await act('replay', asked);
    return t('again.done');
  };
  return (
    <Action
      label={t('again.label')}
      name={`${t('again.label')}: ${called}`}
      ready={count !== null && count > 0}
      onOpen={look}
      run={run}
    >
      <p>{count === null ? t('counting') : t(count === 0 ? 'again.none' : 'again.what', { name: called })}</p>
    </Action>
  );
}

/** The option that leaves an event out; of a condition also what the event has, and what was asked for. */
export function Why({ refusedBy: { option, condition, found, wanted } }: { refusedBy: RefusedBy }) {
  const { t } = usePreferences();
  const compared =
    found === null || wanted === null ? condition : t('got.compared', { condition: condition ?? '', found, wanted });
  return (
    <span class="answer">
      {t(`select.${option}`)} {compared !== null && <code class="wrap">{compared}</code>}
    </span>
  );
}

interface AnswerProps {
  delivery: Attempt;
  /** Its number is the number of attempts. */
  isNewest?: boolean;
  isShort?: boolean;
}

export function Outcome({ delivery: { outcome, nextAttemptAt } }: { delivery: Attempt }) {
  const { t, word } = usePreferences();
  const isOver = outcome === 'retry' && Date.parse(nextAttemptAt ?? '') < new Date().getTime();
  return <span class={`mark ${TONES[outcome]}`}>{isOver ? t('got.failed') : word('outcome', outcome)}</span>;
}

/** The receiver’s words in a list are cut there: what many rows repeat hides how they differ. */
const WORDS_IN_A_LIST = 60;

/** The parts that are known, in one line: `14:03:11 · 2 attempts · 0.3 s · HTTP 200`. */
export function Answer({ delivery, isNewest = false, isShort = !isNewest }: AnswerProps) {
  const { t, word, clock, took } = usePreferences();
  const { outcome, at, attempt, ms, status, reason, nextAttemptAt, digest, origin } = delivery;
  const said = useSaid();
  const words = delivery.words === null ? null : said(delivery.words);
  // At once, without a hitch: how long it took and the number of the answer are for who looks closer.
  const smooth = outcome === 'delivered' && attempt === 1 && status !== null;
  const parts = [
    at !== null && clock(at),
    smooth && t('got.atOnce'),
    !smooth && attempt > 0 && t(isNewest ? 'got.attempts' : 'got.attempt', { count: attempt }),
    !smooth && ms !== null && took(ms),
    !smooth && status !== null && `HTTP ${status}`,
    // The status says it already.
    reason !== null && status === null && word('reason', reason),
    nextAttemptAt !== null &&
      Date.parse(nextAttemptAt) > new Date().getTime() &&
      t('got.next', { when: clock(nextAttemptAt) }),
    digest !== null && t('got.digest', { count: digest.events }),
    origin !== null && t(origin.startsWith('s') ? 'got.snapshot' : 'got.replay'),
  ].filter((part) => part !== false);
  return (
    <span class="answer" title={smooth && ms !== null ? `${took(ms)} · HTTP ${status}` : undefined}>
      {parts.join(' · ')}
      {words !== null && (
        <span class="message" title={words}>
          {' '}
          “{isShort && words.length > WORDS_IN_A_LIST ? `${words.slice(0, WORDS_IN_A_LIST).trimEnd()}…` : words}”
        </span>
      )}
    </span>
  );
}

const SHOWN = ['failed', 'pending'] as const;

/** The newest deliveries of a subscription; a row opens to its event. */
export function NewestDeliveries({ subscription, keepsReceipts }: { subscription: string; keepsReceipts: boolean }) {
  const { t } = usePreferences();
  const [outcome, setOutcome] = useState<(typeof SHOWN)[number] | ''>('');
  const asked = { subscription, ...(outcome !== '' && { outcome }), limit: 20 };
  const { value, error } = usePolled(pathOf('listDeliveries', asked), 5_000);
  return (
    <section class="card" aria-label={t('sub.newest')}>
      <div class="head">
        <h2>{t('sub.newest')}</h2>
        <Choice
          label={t('filter.show')}
          value={outcome}
          onChoose={(one) => setOutcome(SHOWN.find((known) => known === one) ?? '')}
          options={[['', t('filter.all')], ...SHOWN.map((one) => [one, t(`sub.show.${one}`)] as const)]}
        />
        {value !== null && value.deliveries.length > 0 && (
          <SheetButtons verb="listDeliveries" input={asked} name={subscription} />
        )}
      </div>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : value.deliveries.length === 0 ? (
        <p class="quiet">{t(keepsReceipts ? 'sub.noDeliveries' : 'sub.notKept')}</p>
      ) : (
        <ul class="deliveries">
          {value.deliveries.map((one) => (
            <Sent key={`${one.eventId} ${one.origin ?? ''} ${one.attempt} ${one.at ?? ''}`} delivery={one} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Sent({ delivery }: { delivery: Delivery }) {
  const { kind } = usePreferences();
  const { type, title, record, list, workspace } = delivery;
  return (
    <li>
      <Outcome delivery={delivery} /> <span class="kind">{kind(type)}</span>{' '}
      {list === null ? (
        <span>{title ?? record}</span>
      ) : (
        <a href={placeOf('records', { workspace, list, id: record })}>{title ?? record}</a>
      )}{' '}
      <Answer delivery={delivery} /> <SendAgain delivery={delivery} />
    </li>
  );
}
