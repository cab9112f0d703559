/** Events that could not be handled: why, and what to do with them. */
import { useState } from 'preact/hooks';
import { Action } from '../action.js';
import { act, messageOf, pathOf, type Answered, type SectionProps } from '../api.js';
import { EventRow } from '../event-row.js';
import { placeOf, useNow, usePlace, usePolled } from '../hooks.js';
import { Named, useNames, useSaid } from '../names.js';
import { Filter, Head } from '../parts.js';
import { usePreferences } from '../preferences.js';
import { SheetButtons } from '../sheet.js';

type DeadLetter = Answered<'listDeadLetters'>['deadLetters'][number];
type Done = { action: Verb; count: number } | { failed: string };
type Verb = 'retry' | 'drop';
/** Which dead letters an action is for. Nothing given: all. */
type Chosen = Partial<Record<'subscription' | 'reason', string>> & { ids?: string[] };
type Send = (action: Verb, chosen: Chosen) => Promise<null>;

/** As many as the API gives at once. */
const LIMIT = 200;
/** A group of more is folded. */
const MOST_OPEN = 5;

export function DeadLetters({ status, again, canAct }: SectionProps) {
  const { t, number } = usePreferences();
  const said = useSaid();
  const nameOf = useNames();
  const { query } = usePlace();
  const chosen = pick({ subscription: query.get('subscription'), reason: query.get('reason') });
  const letters = usePolled(pathOf('listDeadLetters', { ...chosen, limit: LIMIT }), 5_000);
  const [done, setDone] = useState<Done | null>(null);
  const found = letters.value?.deadLetters ?? [];
  const groups = groupsOf(found);
  const counts = status?.subscriptions.filter(({ name }) => name === (chosen.subscription ?? name)) ?? [];
  const dead = counts.reduce((sum, one) => sum + one.dead, 0);
  // Only the newest are loaded, and an action with a reason is for all that have it.
  const countOf = (loaded: number): string => `${number(loaded)}${found.length < LIMIT ? '' : '+'}`;
  const send: Send = (action, which) =>
    act(`${action}DeadLetters`, Object.keys(which).length === 0 ? { all: true } : which)
      .then(({ count }) => setDone({ action, count }))
      .catch((failure: unknown) => setDone({ failed: messageOf(failure) }))
      .finally(() => {
        letters.again();
        again();
      })
      .then(() => null);
  const go = (next: Chosen): void => void (location.hash = placeOf('dead', pick({ ...chosen, ...next })));
  return (
    <>
      <Head title={t('dead.title')}>{t('dead.intro')}</Head>
      {!canAct && <p class="quiet">{t('read.only')}</p>}
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          <Filter
            label={t('dead.subscription')}
            value={chosen.subscription}
            options={status?.subscriptions.map(({ name }) => [name, nameOf(name)]) ?? []}
            onChoose={(subscription) => go({ subscription })}
          />
          <Filter
            label={t('dead.reason')}
            value={chosen.reason}
            options={[...new Set(found.map(({ reason }) => reason))].map((reason) => [reason, said(reason)])}
            onChoose={(reason) => go({ reason })}
          />
          {found.length > 0 && <SheetButtons verb="listDeadLetters" input={chosen} name="dead-letters" />}
          {canAct && found.length > 0 && (
            <Actions
              count={chosen.reason === undefined ? number(Math.max(dead, found.length)) : countOf(found.length)}
              chosen={chosen}
              send={send}
            />
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
      ) : found.length === 0 ? (
        <p class="empty">{t('dead.none')}</p>
      ) : (
        groups.map((group) => (
          <Group
            key={`${group[0]?.subscription ?? ''} ${group[0]?.reason ?? ''}`}
            group={group}
            canAct={canAct}
            // The buttons above are for the same dead letters.
            isOnly={groups.length === 1}
            countOf={countOf}
            send={send}
          />
        ))
      )}
      {chosen.reason === undefined && dead > found.length && found.length > 0 && (
        <p class="quiet">{t('dead.newest', { count: number(found.length), total: number(dead) })}</p>
      )}
    </>
  );
}

function pick({
  subscription,
  reason,
}: Readonly<Record<'subscription' | 'reason', string | null | undefined>> | Chosen) {
  return { ...(subscription && { subscription }), ...(reason && { reason }) };
}

/** Those of one subscription and reason, in the order of the newest of each. */
function groupsOf(letters: readonly DeadLetter[]): DeadLetter[][] {
  const groups = new Map<string, DeadLetter[]>();
  for (const letter of letters) {
    const key = `${letter.subscription} ${letter.reason}`;
    groups.set(key, [...(groups.get(key) ?? []), letter]);
  }
  return [...groups.values()];
}

/** The actions on all that are chosen. */
function Actions({ count, chosen, send }: { count: string; chosen: Chosen; send: Send }) {
  const { t } = usePreferences();
  return (
    <>
      <button type="button" onClick={() => void send('retry', chosen)}>
        {t('dead.retryAll', { count })}
      </button>
      <Action label={t('dead.dropAll', { count })} sure={t('confirm.yes')} danger run={() => send('drop', chosen)}>
        <p>{t('dead.dropAllSure', { count })}</p>
      </Action>
    </>
  );
}

interface GroupProps {
  group: readonly DeadLetter[];
  canAct: boolean;
  isOnly: boolean;
  countOf: (loaded: number) => string;
  send: Send;
}

function Group({ group, canAct, isOnly, countOf, send }: GroupProps) {
  const { t } = usePreferences();
  const said = useSaid();
  const nameOf = useNames();
  const [first] = group;
  if (first === undefined) return null;
  const { subscription, reason } = first;
  const count = countOf(group.length);
  return (
    <section class="card" aria-label={`${nameOf(subscription)}: ${said(reason)}`}>
      <p class="what">
        <strong>
          <Named name={subscription} />
        </strong>
        <span class="reason">{said(reason)}</span>
      </p>
      {canAct && group.length > 1 && !isOnly && (
        <p class="actions">
          <Actions count={count} chosen={{ subscription, reason }} send={send} />
        </p>
      )}
      <details open={group.length <= MOST_OPEN}>
        <summary>{t('dead.count', { count })}</summary>
        <ul class="letters">
          {group.map((letter) => (
            <Letter key={letter.id} letter={letter} canAct={canAct} send={send} />
          ))}
        </ul>
      </details>
    </section>
  );
}

interface LetterProps {
  letter: DeadLetter;
  canAct: boolean;
  send: Send;
}

function Letter({ letter: { id, subscription, diedAt, attempts, event }, canAct, send }: LetterProps) {
  const { t, ago, dateTime } = usePreferences();
  const said = useSaid();
  const now = useNow(5_000);
  return (
    <li class="letter">
      <ol class="feed inner">
        <EventRow group={{ key: id, lead: event, others: [] }} now={now} />
      </ol>
      <p class="quiet small">
        <time dateTime={diedAt} title={dateTime(diedAt)}>
          {t('dead.since', { when: ago(diedAt, now) })}
        </time>
      </p>
      {attempts.length > 0 && (
        <details>
          <summary>{t('dead.attempts', { count: attempts.length })}</summary>
          <ol class="attempts">
            {attempts.map(({ at, message }, index) => (
              <li key={index}>
                {typeof at === 'string' && <time dateTime={at}>{dateTime(at)}</time>} {said(message)}
              </li>
            ))}
          </ol>
        </details>
      )}
      {canAct && (
        <p class="actions">
          <button type="button" class="main" onClick={() => void send('retry', { subscription, ids: [id] })}>
            {t('dead.retry')}
          </button>
          <Action
            label={t('dead.drop')}
            sure={t('confirm.yes')}
            danger
            run={() => send('drop', { subscription, ids: [id] })}
          >
            <p>{t('dead.dropSure')}</p>
          </Action>
        </p>
      )}
    </li>
  );
}
