/** Erases the record of an event. Before, it says what there is; afterwards, what is left to do elsewhere. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Action } from './action.js';
import { act, type Answered, type EventView } from './api.js';
import { placeOf } from './hooks.js';
import { usePreferences } from './preferences.js';

export interface Erasing {
  /** The list of an event's record; undefined of the feed's own events. */
  listOf: (event: EventView) => string | undefined;
  /** Reads the events anew. */
  again: () => void;
}

interface ErasedRecord {
  workspace: string;
  list: string;
  id: string;
  title: string | null;
}

type Erased = Answered<'erase'>;

const MOST_SHOWN = 10;

/** Erases the record of an event. */
export function Erase({ event, erasing }: { event: EventView; erasing: Erasing }) {
  const { workspace, subject: id, title } = event;
  const list = erasing.listOf(event);
  if (list === undefined || event.schema !== null) return null;
  return <EraseRecord record={{ workspace, list, id, title }} after={erasing.again} />;
}

export function EraseRecord({ record: { title, ...record }, after }: { record: ErasedRecord; after: () => void }) {
  const { t, number } = usePreferences();
  const [found, setFound] = useState<Erased | null>(null);
  const { id } = record;
  const look = (): void => {
    setFound(null);
    void act('erase', { ...record, dryRun: true }).then(setFound, () => undefined);
  };
  const run = async (): Promise<ComponentChildren> => (
    <Outcome erased={await act('erase', record)} id={id} at={new Date().toISOString()} />
  );
  return (
    <Action
      label={t('erase.label')}
      title={t('erase.title', { name: title ?? id })}
      danger
      ready={found !== null}
      onOpen={look}
      run={run}
      after={after}
    >
      {found === null ? (
        <p class="quiet">{t('counting')}</p>
      ) : (
        <>
          <p>{t('erase.sure', { count: number(found.events) })}</p>
          <Related erased={found} workspace={record.workspace} />
        </>
      )}
    </Action>
  );
}

/** It can be filed for the person who asked for it: what was erased, when, and by which mark the records of decisions name it. */
function Outcome({ erased, id, at }: { erased: Erased; id: string; at: string }) {
  const { t, number, word, dateTime } = usePreferences();
  const { workspace, list, tombstone, events, kept, tables, disk } = erased;
  const { deliveries = 0, deadLetters = 0, receipts = 0, running = 0 } = kept ?? {};
  const counts = {
    count: events,
    deliveries,
    dead: deadLetters,
    receipts,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
  };
  const values = Object.fromEntries(Object.entries(counts).map(([name, value]) => [name, number(value)]));
  return (
    <>
      <p class="notice good">{t('erase.done', values)}</p>
      <Receipt
        text={[
          t('erase.receipt', { workspace, list: word('list', list), id, time: dateTime(at) }),
          t('erase.done', values),
          t('erase.tombstone', { tombstone }),
        ].join('\n')}
      />
      {running > 0 && <p class="notice bad">{t('erase.running', { count: number(running) })}</p>}
      {tables.map(
        ({ subscription, problem }) =>
          problem !== null && (
            <p key={subscription} class="notice bad">
              {problem}
            </p>
          ),
      )}
      {(disk === 'rewriting' || disk === 'refused') && (
        <p class={disk === 'refused' ? 'notice bad' : ''}>{t(`erase.disk.${disk}`)}</p>
      )}
      <Related erased={erased} workspace={workspace} />
    </>
  );
}

function Receipt({ text }: { text: string }) {
  const { t } = usePreferences();
  const [isCopied, setCopied] = useState(false);
  return (
    <>
      <pre class="as-sent" tabIndex={0}>
        {text}
      </pre>
      {/* Browsers have it on addresses with TLS and on this machine. */}
      {'clipboard' in navigator && (
        <p class="actions">
          <button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => setCopied(true))}>
            {t(isCopied ? 'erase.receiptCopied' : 'erase.receiptCopy')}
          </button>
        </p>
      )}
    </>
  );
}

function Related({ erased: { related, mentions, outOfReach }, workspace }: { erased: Erased; workspace: string }) {
  const { t, number, word } = usePreferences();
  const names = outOfReach.map(({ subscription, address }) =>
    address === null ? subscription : `${subscription} (${address})`,
  );
  return (
    <>
      {related.length > 0 && (
        <>
          <p>{t('erase.related', { count: number(related.length) })}</p>
          <ul>
            {related.slice(0, MOST_SHOWN).map(({ list, id, title }) => (
              <li key={`${list} ${id}`}>
                {word('list', list)} <a href={placeOf('records', { workspace, list, id })}>{title ?? id}</a>
              </li>
            ))}
            {related.length > MOST_SHOWN && <li>{t('erase.more', { count: number(related.length - MOST_SHOWN) })}</li>}
          </ul>
        </>
      )}
      {mentions.map(({ in: place, name }) => (
        <p key={`${place} ${name}`}>{t(`erase.in.${place}`, { name })}</p>
      ))}
      {names.length > 0 && <p class="quiet">{t('erase.outOfReach', { names: names.join(', ') })}</p>}
    </>
  );
}
