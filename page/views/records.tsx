/** The section of records: a list as it is, or as it was at a time, and from it the view of one record. */
import { useState } from 'preact/hooks';
import type { About, Answered, SectionProps } from '../api.js';
import { placeOf, useAsked, usePlace, useSettled } from '../hooks.js';
import { Choice, Columns, Head, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import { RecordView } from '../record.js';
import { SheetButtons } from '../sheet.js';

type Stored = Answered<'findRecords'>['records'][number] & Readonly<Record<string, unknown>>;
type Place = Readonly<Record<'workspace' | 'list' | 'id' | 'name' | 'at', string>>;

/** The others are in the CSV. */
const MOST_COLUMNS = 6;
const STEP = 50;
const MOST = 200;

export function Records({ about }: SectionProps) {
  const { t } = usePreferences();
  const { query } = usePlace();
  const given = (name: string): string => query.get(name) ?? '';
  const workspace = about.workspaces.find(({ name }) => name === given('workspace')) ?? about.workspaces[0];
  const lists = workspace?.lists.filter(({ enabled, recognisedOnly }) => enabled && !recognisedOnly) ?? [];
  // Other sections know the object only.
  const list = lists.find(({ name, object }) => [name, object].includes(given('list'))) ?? lists[0];
  if (workspace === undefined || list === undefined) return <p class="empty">{t('records.none')}</p>;
  const place = { workspace: workspace.name, list: list.name, id: given('id'), name: given('name'), at: given('at') };
  const { id, at } = place;
  const asOf = readTime(at);
  const asked = { workspace: workspace.name, list: list.name, ...(asOf !== undefined && { asOf }) };
  return (
    <>
      <Head title={t('nav.records')}>
        {id === '' ? t('records.intro') : <a href={placeOf('records', { ...place, id: '' })}>{t('record.back')}</a>}
      </Head>
      <Filters about={about} place={place} lists={lists.map(({ name }) => name)} />
      {id === '' ? (
        <OneList key={list.name} place={place} asOf={asOf} />
      ) : (
        <RecordView key={id} asked={{ ...asked, id }} object={list.object} />
      )}
    </>
  );
}

/** A time of the person who looks; undefined: it is none, or not whole yet. */
function readTime(text: string): string | undefined {
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString();
}

function Filters({ about, place, lists }: { about: About; place: Place; lists: readonly string[] }) {
  const { t, word } = usePreferences();
  const set = (changed: Partial<Place>): void => {
    history.replaceState(null, '', placeOf('records', { ...place, ...changed }));
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  return (
    <form class="filters" role="search" aria-label={t('filter.title')} onSubmit={(event) => event.preventDefault()}>
      <div class="fields">
        {place.id === '' && about.workspaces.length > 1 && (
          <Choice
            label={t('filter.workspace')}
            value={place.workspace}
            onChoose={(workspace) => set({ workspace })}
            options={about.workspaces.map(({ name }) => [name, name])}
          />
        )}
        {place.id === '' && (
          <>
            <Choice
              label={t('filter.list')}
              value={place.list}
              onChoose={(list) => set({ list })}
              options={lists.map((name) => [name, word('list', name)])}
            />
            <TextField label={t('records.name')} value={place.name} onText={(name) => set({ name })} />
          </>
        )}
        <TextField type="datetime-local" label={t('records.asOf')} value={place.at} onText={(at) => set({ at })} />
        {place.at !== '' && (
          <button type="button" onClick={() => set({ at: '' })}>
            {t('records.now')}
          </button>
        )}
      </div>
    </form>
  );
}

function OneList({ place, asOf }: { place: Place; asOf: string | undefined }) {
  const { t, number, dateTime } = usePreferences();
  const [limit, setLimit] = useState(STEP);
  const settled = useSettled({ ...place, asOf }, 300);
  const { workspace, list, name } = settled;
  const asked = { workspace, list, limit, ...(name !== '' && { names: [name] }) };
  const isPast = settled.asOf !== undefined;
  const now = useAsked('findRecords', isPast ? null : asked, 30_000);
  const past = useAsked('findRecordsAsOf', isPast ? { ...asked, at: settled.asOf ?? '' } : null, 600_000);
  const { value, error } = isPast ? past : now;
  if (value === null) return <p class={error === null ? 'quiet' : 'notice bad'}>{error ?? t('loading')}</p>;
  const { records, next } = value;
  const count = number(records.length);
  return (
    <>
      <div class="head">
        <p class="quiet">
          {settled.asOf !== undefined && `${t('records.as', { when: dateTime(settled.asOf) })}. `}
          {next === null ? t('records.count', { count }) : t('records.first', { count })}
        </p>
        {settled.asOf === undefined ? (
          <SheetButtons verb="findRecords" input={asked} name={list} />
        ) : (
          <SheetButtons
            verb="findRecordsAsOf"
            input={{ ...asked, at: settled.asOf }}
            name={`${list} ${settled.asOf.slice(0, 16).replace(':', '-')}`}
          />
        )}
      </div>
      {records.length === 0 ? <p class="empty">{t('records.none')}</p> : <Rows place={place} records={records} />}
      {next !== null && limit < MOST && (
        <p class="more">
          <button type="button" onClick={() => setLimit(MOST)}>
            {t('records.more')}
          </button>
        </p>
      )}
    </>
  );
}

function Rows({ place, records }: { place: Place; records: readonly Stored[] }) {
  const { t, viewOf, valueText } = usePreferences();
  const [title = 'id', ...columns] = columnsOf(records);
  const textOf = (value: unknown): string | null => valueText(viewOf(value));
  return (
    <div class="card wide" tabIndex={0} role="region" aria-label={t('nav.records')}>
      <table class="cards-when-narrow">
        <Columns names={[title, ...columns].map((name) => [name])} />
        <tbody>
          {records.map((record) => (
            <tr key={record.id}>
              <th scope="row">
                <a href={placeOf('records', { ...place, name: '', id: record.id })}>
                  {textOf(record[title]) ?? record.id}
                </a>
              </th>
              {columns.map((name) => (
                <td key={name} data-label={name}>
                  {textOf(record[name]) ?? '—'}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The fields that most of the records have, the first text first: what a record is called. */
function columnsOf(records: readonly Stored[]): string[] {
  const counts = new Map<string, number>();
  for (const record of records)
    for (const [field, value] of Object.entries(record))
      if (value !== null && value !== '' && !/id$/i.test(field)) counts.set(field, (counts.get(field) ?? 0) + 1);
  return [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_COLUMNS)
    .map(([field]) => field);
}
