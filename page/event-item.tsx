/** One event: what happened to which record, and each changed field with its value before and after. */
import { useState } from 'preact/hooks';
import { ask, type EventView, type OneEvent, type ValueView } from './api.js';
import { placeOf } from './hooks.js';
import { usePreferences } from './preferences.js';
import { ProblemText } from './problem-text.js';

export interface EventItemProps {
  event: EventView;
  now: number;
  /** It came while the page was open. */
  fresh?: boolean;
}

export function EventItem({ event, now, fresh = false }: EventItemProps) {
  const { t, word, ago, dateTime, times, valueType } = usePreferences();
  const [open, setOpen] = useState(false);
  const { object, verb, title, about, person, actor, observedAt, subject, notice, schema } = event;
  const isOfFeed = event.type.startsWith('changefeed.');
  return (
    <li class={`event ${tone(event)} ${fresh ? 'fresh' : ''}`}>
      <div class="what">
        <span class="kind">
          {isOfFeed
            ? `${word('object', 'feed')}: ${word('problem', `${object}.${verb}`)}`
            : `${word('object', object)} ${word('verb', verb)}`}
        </span>
        <span class="title">{times(title ?? (isOfFeed ? '' : subject))}</span>
        {about !== null && <span class="about">{times(about)}</span>}
        {/* An id says nothing to a person; it is in the details. */}
        {person !== null && person.name !== person.id && <span class="person">{person.name}</span>}
        {actor !== null && <By actor={actor} />}
        <time dateTime={observedAt} title={dateTime(observedAt)}>
          {ago(observedAt, now)}
        </time>
      </div>
      {notice !== null && (
        <ProblemText
          kind={event.type.slice('changefeed.'.length)}
          severity={notice.severity}
          message={notice.message}
        />
      )}
      {schema !== null && (
        <p class="message">
          {schema.field}: {schema.before.map(valueType).join(', ')} → {schema.after.map(valueType).join(', ')}
        </p>
      )}
      {event.due !== null && <p class="message">{t('event.due', { when: dateTime(event.due) })}</p>}
      {event.changes.length > 0 && (
        <dl class="changes">
          {event.changes.map(({ field, before, after, actor: of }, index) => (
            <div key={index}>
              <dt>{field}</dt>
              <dd>
                <Value value={before} side="before" /> <span aria-hidden="true">→</span>{' '}
                <Value value={after} side="after" />
                {of !== null && <By actor={of} />}
              </dd>
            </div>
          ))}
        </dl>
      )}
      {event.moreChanges > 0 && <p class="quiet">{t('changes.more', { count: event.moreChanges })}</p>}
      <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
        {open ? t('changes.hide') : t('changes.details')}
      </button>
      {open && <Details event={event} />}
    </li>
  );
}

function By({ actor: { type, name } }: { actor: NonNullable<EventView['actor']> }) {
  const { t, word } = usePreferences();
  return (
    <span class="by" title={word('actor', type)}>
      {t('event.by', { name: name || word('actor', type) })}
    </span>
  );
}

/** Empty values and differences of spaces would otherwise not be seen. */
function Value({ value, side }: { value: ValueView; side: 'before' | 'after' }) {
  const { t, times } = usePreferences();
  const Tag = side === 'before' ? 'del' : 'ins';
  const text = value.text === null ? null : times(value.text);
  return (
    <Tag>
      <span class="unseen">{t(side)}: </span>
      {text === null ? <i>{t('value.none')}</i> : text}
    </Tag>
  );
}

function tone({ verb, type }: EventView): string {
  if (type.startsWith('changefeed.')) return 'of-feed';
  if (verb === 'created' || verb === 'completed') return 'good';
  return verb === 'deleted' || verb === 'overdue' ? 'bad' : '';
}

/** A text of megabytes would make the browser slow: the whole event is at the address of the link. */
const MOST_CHARACTERS = 20_000;

function Details({ event }: { event: EventView }) {
  const { t, dateTime } = usePreferences();
  const [whole, setWhole] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const address = `/api/events/${encodeURIComponent(event.workspace)}/${event.logId}`;
  const load = (): void =>
    void ask<OneEvent>(address)
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
    <div class="details">
      <dl class="facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="actions">
        <a href={placeOf('changes', { record: event.subject })}>{t('changes.record')}</a>
        {whole === null && (
          <button type="button" class="plain" onClick={load}>
            {t('detail.json')}
          </button>
        )}
      </p>
      {error !== null && <p class="notice bad">{error}</p>}
      {whole !== null && (
        <>
          <p class="quiet">{t('detail.cut', { count: MOST_CHARACTERS })}</p>
          <pre tabIndex={0}>{whole}</pre>
        </>
      )}
    </div>
  );
}

function cutTexts(_: string, value: unknown): unknown {
  return typeof value === 'string' && value.length > MOST_CHARACTERS ? `${value.slice(0, MOST_CHARACTERS)}…` : value;
}
