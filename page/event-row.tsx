/** One edit as a row: what happened to which record, by whom. It opens to all that the event says and to what came with it. */
import { useState } from 'preact/hooks';
import type { EventView } from './api.js';
import { EventDetails } from './event-details.js';
import type { Erasing } from './erase.js';
import { BeforeAfter, By, isOfFeed, Kind, type ShownChange } from './event-parts.js';
import { authorOf, nameOf, type Group } from './group-events.js';
import { ProblemText } from './parts.js';
import { usePreferences } from './preferences.js';

export interface EventRowProps {
  group: Group;
  now: number;
  /** It came while the page was open. */
  fresh?: boolean;
  /** @defaultValue null: nothing is erased here */
  erasing?: Erasing | null;
}

/** The others are seen when the row is opened. */
const MOST_AT_A_GLANCE = 3;

export function EventRow({ group, now, fresh = false, erasing = null }: EventRowProps) {
  const { t, times, ago, dateTime, number } = usePreferences();
  const [open, setOpen] = useState(false);
  const { lead, others } = group;
  const { person, observedAt } = lead;
  const actor = authorOf(group);
  const title = nameOf(group) ?? (isOfFeed(lead) || lead.row !== null ? '' : lead.subject);
  const changes = changesOf(group);
  const toggle = ({ target }: Event): void => {
    const isLink = (target as Element).closest('a, button') !== null;
    // Who selects a text does not want the row to close.
    if (!isLink && getSelection()?.isCollapsed !== false) setOpen(!open);
  };
  return (
    <li class={`event ${tone(lead)} ${fresh ? 'fresh' : ''} ${open ? 'open' : ''}`}>
      <div class="row" onClick={toggle}>
        <p class="what">
          <button type="button" class="opener" aria-expanded={open} onClick={() => setOpen(!open)}>
            <Kind event={lead} /> <span class="title">{times(title)}</span>
          </button>
          {lead.link !== null && (
            <a
              class="to-crm"
              href={lead.link}
              target="_blank"
              rel="noreferrer"
              aria-label={`${t('event.link')}: ${title}`}
            >
              ↗
            </a>
          )}
          {lead.about !== null && lead.row === null && <span class="about">{times(lead.about)}</span>}
          {/* An id says nothing to a person; it is in the details. */}
          {person !== null && person.name !== person.id && lead.row === null && (
            <span class="person">{person.name}</span>
          )}
          {actor !== null && <By actor={actor} isShort />}
          {others.length > 0 && (
            <span class="chip" title={t('changes.plus', { count: others.length })}>
              <span aria-hidden="true">+{number(others.length)}</span>
              <span class="unseen">{t('changes.plus', { count: others.length })}</span>
            </span>
          )}
          <time dateTime={observedAt} title={dateTime(observedAt)}>
            {ago(observedAt, now)}
          </time>
        </p>
        <Glance event={lead} changes={changes} open={open} />
      </div>
      {open && <EventDetails group={group} changes={changes} erasing={erasing} />}
    </li>
  );
}

/** Rows of a history are the changes of their record. */
function changesOf({ lead, others }: Group): readonly ShownChange[] {
  if (lead.row === null) return lead.changes;
  return [lead, ...others].flatMap(({ row, actor }) =>
    row === null
      ? []
      : [{ field: row.field, after: row.value, actor: actor?.name === lead.actor?.name ? null : actor }],
  );
}

/** The second line: what changed, on one line. An open row shows all of it below. */
function Glance({ event, changes, open }: { event: EventView; changes: readonly ShownChange[]; open: boolean }) {
  const { t, label, dateTime, valueType } = usePreferences();
  const { notice, schema, due, type, moreChanges } = event;
  if (notice !== null) {
    const kind = type.slice('changefeed.'.length);
    return <ProblemText kind={kind} {...notice} short={!open} />;
  }
  if (schema !== null)
    return (
      <p class="glance">
        {schema.field}: {schema.before.map(valueType).join(', ')} → {schema.after.map(valueType).join(', ')}
      </p>
    );
  if (due !== null) return <p class="glance">{t('event.due', { when: dateTime(due) })}</p>;
  if (open || changes.length === 0) return null;
  const more = changes.length + moreChanges - MOST_AT_A_GLANCE;
  return (
    <p class="glance">
      <span class="clipped">
        {changes.slice(0, MOST_AT_A_GLANCE).map((change, index) => (
          <span key={index} class="change">
            <span class="field">{label(change.field)}</span> <BeforeAfter change={change} />
          </span>
        ))}
      </span>
      {more > 0 && <span class="quiet">{t('changes.more', { count: more })}</span>}
    </p>
  );
}

function tone({ verb, type, row }: EventView): string {
  if (type.startsWith('changefeed.')) return 'of-feed';
  if (row !== null) return '';
  if (verb === 'created' || verb === 'completed') return 'good';
  return verb === 'deleted' || verb === 'overdue' ? 'bad' : '';
}
