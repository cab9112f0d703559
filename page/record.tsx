/** One record: as it is, or was at a time, and what happened to it, with the todos, memos and activities that refer to it. */
import { useState } from 'preact/hooks';
import type { Answered } from './api.js';
import { DeliveriesOf } from './deliveries.js';
import { BeforeAfter, By } from './event-parts.js';
import { placeOf, useAsked } from './hooks.js';
import { EraseRecord } from './erase.js';
import { useCanAct } from './names.js';
import { NamedFacts } from './parts.js';
import { usePreferences } from './preferences.js';
import { SheetButtons } from './sheet.js';

type RecordHistory = Answered<'readRecordHistory'>;
type Change = RecordHistory['changes'][number];
type Related = Answered<'readRelated'>['records'][number];
/** A line of the time line. `refreshed`: a run of changes that only the system made. */
type Line = { change: Change } | { refreshed: readonly Change[] } | { related: Related };

/** Which record, and as of when. */
export interface Asked {
  workspace: string;
  list: string;
  id: string;
  asOf?: string;
}

const STEP = 50;
const MOST = 1_000;

export function RecordView({ asked, object }: { asked: Asked; object: string }) {
  const { t, dateTime, viewOf, valueText, word, label } = usePreferences();
  const [limit, setLimit] = useState(STEP);
  const canAct = useCanAct();
  const { value, error, again } = useAsked('readRecordHistory', { ...asked, limit }, 10_000);
  const related = useAsked('readRelated', asked, 60_000);
  if (value === null) return <p class={error === null ? 'quiet' : 'notice bad'}>{error ?? t('loading')}</p>;
  const { title, since, record, changes, next } = value;
  const when = asked.asOf === undefined ? '' : dateTime(asked.asOf);
  const fields = Object.entries((record ?? {}) as Readonly<Record<string, unknown>>).flatMap(([field, one]) => {
    const text = valueText(viewOf(one));
    const name = Object.hasOwn(record ?? {}, label(field)) ? field : label(field);
    return text === null ? [] : [[name, text] as const];
  });
  const lines = linesOf(changes, related.value?.records ?? [], next === null);
  const known = since === null ? t('record.notKept') : t('record.since', { since: dateTime(since) });
  return (
    <>
      <h2 class="record">
        <span class="kind">{word('object', object)}</span> {title ?? asked.id}
      </h2>
      {canAct && asked.asOf === undefined && record !== null && (
        <p class="actions">
          <EraseRecord record={{ ...asked, title }} after={again} />
        </p>
      )}
      <section class="card" aria-label={t('record.title')}>
        <h3>{asked.asOf === undefined ? t('record.is') : t('record.was', { when })}</h3>
        {record === null ? (
          <p class="quiet">{t(asked.asOf === undefined ? 'record.gone' : 'record.wasGone')}</p>
        ) : (
          <NamedFacts class="values" facts={fields} />
        )}
      </section>
      <div class="head">
        <h2>{t('record.line')}</h2>
        <SheetButtons verb="readRecordHistory" input={asked} name={title ?? asked.id} />
      </div>
      {related.value === null && <p class="quiet">{related.error ?? t('record.related')}</p>}
      {related.value !== null && related.value.unknown.length > 0 && (
        <p class="quiet">
          {t('record.unknown', { lists: related.value.unknown.map((one) => word('list', one)).join(', ') })}
        </p>
      )}
      <ol class="feed past">
        {lines.map((line) => (
          <TimeLine key={keyOf(line)} line={line} workspace={asked.workspace} />
        ))}
      </ol>
      <p class="more quiet">
        {next !== null && limit < MOST ? (
          <button type="button" onClick={() => setLimit(Math.min(MOST, limit + 4 * STEP))}>
            {t('record.older')}
          </button>
        ) : (
          known
        )}
      </p>
    </>
  );
}

/** Newest first. Older related records wait until the changes of their time are shown. @param isAll there are no older changes */
function linesOf(changes: readonly Change[], related: readonly Related[], isAll: boolean): Line[] {
  const oldest = isAll ? '' : (changes.at(-1)?.time ?? '');
  const lines: Line[] = [
    ...changes.map((change) => ({ change })),
    ...related.filter(({ time }) => (time ?? '') >= oldest).map((one) => ({ related: one })),
  ];
  lines.sort((one, other) => (timeOf(one) < timeOf(other) ? 1 : timeOf(one) > timeOf(other) ? -1 : 0));
  return lines.reduce<Line[]>((folded, line) => {
    const last = folded.at(-1);
    if (!('change' in line) || line.change.class !== 'refreshed') return [...folded, line];
    if (last === undefined || !('refreshed' in last)) return [...folded, { refreshed: [line.change] }];
    return [...folded.slice(0, -1), { refreshed: [...last.refreshed, line.change] }];
  }, []);
}

function timeOf(line: Line): string {
  if ('related' in line) return line.related.time ?? '';
  return ('change' in line ? line.change : line.refreshed[0])?.time ?? '';
}

function keyOf(line: Line): string {
  if ('related' in line) return `${line.related.list} ${line.related.id}`;
  const [first] = 'change' in line ? [line.change] : line.refreshed;
  return `${first?.event ?? ''} ${first?.sequence ?? ''} ${first?.observedAt ?? ''}`;
}

function TimeLine({ line, workspace }: { line: Line; workspace: string }) {
  const { t } = usePreferences();
  if ('change' in line) return <Changed change={line.change} />;
  if ('related' in line) return <Refers {...line.related} workspace={workspace} />;
  return (
    <li class="event">
      <details>
        <summary>{t('record.refreshed', { count: line.refreshed.length })}</summary>
        <ol>
          {line.refreshed.map((change) => (
            <Changed key={keyOf({ change })} change={change} />
          ))}
        </ol>
      </details>
    </li>
  );
}

const TONES: Readonly<Record<string, string>> = { created: 'good', deleted: 'bad' };

function Changed({ change: { event, type, time, observedAt, actor, changes, mergedInto } }: { change: Change }) {
  const { t, word, label, dateTime, viewOf } = usePreferences();
  const [open, setOpen] = useState(false);
  const verb = type?.split('.')[2] ?? '';
  return (
    <li class={`event ${TONES[verb] ?? ''}`}>
      <p class="what">
        <span class="kind">{type === null ? t('history.stored') : word('verb', verb)}</span>
        {actor !== null && <By actor={actor} />}
        {mergedInto !== undefined && <span>{t('record.merged', { id: mergedInto })}</span>}
        <time dateTime={time} title={`${t('detail.observed')}: ${dateTime(observedAt)}`}>
          {dateTime(time)}
        </time>
      </p>
      <dl class="changes">
        {changes.map(({ field, before, after, actor: own }) => (
          <div key={field}>
            <dt>{label(field)}</dt>
            <dd>
              <BeforeAfter change={{ field, before: viewOf(before), after: viewOf(after), actor: null }} />{' '}
              {own !== undefined && <By actor={own} />}
            </dd>
          </div>
        ))}
      </dl>
      {event !== null && (
        <button type="button" class="plain" aria-expanded={open} onClick={() => setOpen(!open)}>
          {t('got.title')}
        </button>
      )}
      {open && event !== null && <DeliveriesOf event={event} />}
    </li>
  );
}

/** A record that refers to this one. */
function Refers({ workspace, list, object, id, title, time, stored }: Related & { workspace: string }) {
  const { word, dateTime } = usePreferences();
  return (
    <li class="event">
      <p class="what">
        <span class="kind">{word('object', object)}</span>
        {stored ? (
          <a class="title" href={placeOf('records', { workspace, list, id })}>
            {title ?? id}
          </a>
        ) : (
          <span class="title">{title ?? id}</span>
        )}
        {time !== null && <time dateTime={time}>{dateTime(time)}</time>}
      </p>
    </li>
  );
}
