/** The details of an opened row: every change, what came with the edit, and the facts of the event. */
import { useState } from 'preact/hooks';
import { act, type EventView } from './api.js';
import { DeliveriesOf } from './deliveries.js';
import { Erase, type Erasing } from './erase.js';
import { BeforeAfter, By, Kind, recordOf, type ShownChange } from './event-parts.js';
import type { Group } from './group-events.js';
import { placeOf } from './hooks.js';
import { NamedFacts } from './parts.js';
import { usePreferences } from './preferences.js';

/** A text of megabytes would make the browser slow: the whole event is at the address of the link. */
const MOST_CHARACTERS = 20_000;

interface DetailsProps {
  group: Group;
  changes: readonly ShownChange[];
  erasing: Erasing | null;
}

export function EventDetails({ group, changes, erasing }: DetailsProps) {
  const { t } = usePreferences();
  const { lead, others } = group;
  return (
    <div class="details">
      <Changes changes={changes} more={lead.moreChanges} />
      <h3>{t('got.title')}</h3>
      <DeliveriesOf event={lead.position} />
      {others.length > 0 && (
        <>
          <h3>{t('changes.folded')}</h3>
          <ul class="folded">
            {others.map((one) => (
              <Folded key={one.position} event={one} />
            ))}
          </ul>
        </>
      )}
      <Facts event={lead} erasing={erasing} />
    </div>
  );
}

function Changes({ changes, more }: { changes: readonly ShownChange[]; more: number }) {
  const { t, label } = usePreferences();
  return (
    <>
      {changes.length > 0 && (
        <dl class="changes">
          {changes.map((change, index) => (
            <div key={index}>
              <dt>{label(change.field)}</dt>
              <dd>
                <BeforeAfter change={change} /> {change.actor !== null && <By actor={change.actor} />}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {more > 0 && <p class="quiet">{t('changes.more', { count: more })}</p>}
    </>
  );
}

function Folded({ event }: { event: EventView }) {
  const { t, word, label, times, clock } = usePreferences();
  const [open, setOpen] = useState(false);
  const { row, changes, object, title } = event;
  const shown: readonly ShownChange[] = row === null ? changes : [{ field: row.field, after: row.value, actor: null }];
  return (
    <li>
      {row === null ? <Kind event={event} /> : <span class="kind">{word('object', object)}</span>}{' '}
      {shown.length === 0 && title !== null && <span>{times(title)}</span>}
      {shown.map((change, index) => (
        <span key={index} class="change">
          <span class="field">{label(change.field)}</span> <BeforeAfter change={change} />
        </span>
      ))}{' '}
      <time class="quiet" dateTime={event.time}>
        {clock(event.time)}
      </time>{' '}
      <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
        {t('got.title')}
      </button>
      {open && <DeliveriesOf event={event.position} />}
    </li>
  );
}

function Facts({ event, erasing }: { event: EventView; erasing: Erasing | null }) {
  const { t, dateTime } = usePreferences();
  const [whole, setWhole] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const { workspace, logId } = event;
  const load = (): void =>
    void act('readEvent', { workspace, logId })
      .then((one) => setWhole(JSON.stringify(one.event, cutTexts, 2)))
      .catch((reason: unknown) => setError(reason instanceof Error ? reason.message : t('changes.gone')));
  const facts: [string, string][] = [
    [t('detail.record'), event.subject],
    [t('detail.time'), dateTime(event.time)],
    [t('detail.observed'), dateTime(event.observedAt)],
    [t('detail.detected'), t(`detected.${event.detectedBy}`)],
    [t('detail.sequence'), String(event.sequence)],
    [t('detail.id'), event.id],
  ];
  return (
    <>
      <NamedFacts facts={facts} />
      <p class="actions">
        {recordOf(event) !== null && <a href={recordOf(event) ?? ''}>{t('record.open')}</a>}
        <a href={placeOf('changes', { record: event.subject, show: 'all' })}>{t('changes.record')}</a>
        {whole === null && (
          <button type="button" class="plain" onClick={load}>
            {t('detail.json')}
          </button>
        )}
        {erasing !== null && <Erase event={event} erasing={erasing} />}
      </p>
      {error !== null && <p class="notice bad">{error}</p>}
      {whole !== null && (
        <>
          <p class="quiet">{t('detail.cut', { count: MOST_CHARACTERS })}</p>
          <pre tabIndex={0}>{whole}</pre>
        </>
      )}
    </>
  );
}

function cutTexts(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
}
