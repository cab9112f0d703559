/** The first section: what changed in some days, in numbers; who is behind; what failed. Each number leads to its rows. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { pathOf, type About, type Answered, type SectionProps } from '../api.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { Named } from '../names.js';
import { Choice, Columns, Head } from '../parts.js';
import { Plot } from '../plot.js';
import { usePreferences } from '../preferences.js';
import { Highlights } from '../rules/highlights.js';
import { SheetButtons } from '../sheet.js';

type Workspace = Answered<'readOverview'>['workspaces'][number];

const PERIODS = ['7', '30', '90'] as const;
const SPLITS = ['list', 'kind'] as const;
type Split = (typeof SPLITS)[number];
/** What happens to a record as a whole. What is told beside it, such as that a todo was completed, is counted apart. */
const WHOLE = ['created', 'updated', 'deleted'];
const MOST_SERIES = 5;
const SHOWN_ROWS = 10;
const SECTION = 'overview';

export function Overview({ about, status, isCustomer }: SectionProps) {
  const { t } = usePreferences();
  const { query } = usePlace();
  const days = PERIODS.find((one) => one === query.get('days')) ?? '7';
  const split = SPLITS.find((one) => one === query.get('by')) ?? 'list';
  const { value, error } = usePolled(pathOf('readOverview', { days }), 30_000);
  const go = (next: { days?: string; by?: string }): void =>
    void (location.hash = placeOf(SECTION, { days, by: split, ...next }));
  return (
    <>
      <Head title={t('nav.overview')}>
        <Choice
          label={t('overview.period')}
          value={days}
          onChoose={(one) => go({ days: one })}
          options={PERIODS.map((one) => [one, t('todos.days', { count: one })])}
        />
        <Choice
          label={t('overview.by')}
          value={split}
          onChoose={(by) => go({ by })}
          options={SPLITS.map((one) => [one, t(`overview.by.${one}`)])}
        />
        <SheetButtons verb="readOverview" input={{ days }} name="overview" />
      </Head>
      <p class="quiet">{t('overview.intro')}</p>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        value.workspaces.map((one) => (
          <Of key={one.workspace} workspace={one} split={split} about={about} several={value.workspaces.length > 1} />
        ))
      )}
      {!isCustomer && <Highlights about={about} />}
      <div class="grid">
        <Behind />
        <section class="card" aria-label={t('overview.failed')}>
          <h2>{t('overview.failed')}</h2>
          <Failed subscriptions={status?.subscriptions ?? []} />
        </section>
      </div>
    </>
  );
}

interface OfProps {
  workspace: Workspace;
  split: Split;
  about: About;
  several: boolean;
}

function Of({ workspace: of, split, about, several }: OfProps) {
  const { t, kind, dateTime } = usePreferences();
  const { workspace, timeZone, logFrom, types, owners, fields, days } = of;
  const lists = useMemo(() => listsOf(workspace, about), [workspace, about]);
  const whole = types.filter(({ type }) => WHOLE.includes(verbOf(type)));
  const since = days[0]?.date ?? '';
  const rows = (filter: Readonly<Record<string, string>>): string =>
    placeOf('changes', { workspace, since, ...filter });
  const listOf = (object: string): string => lists.get(object) ?? '';
  const places = { rows, listOf };
  return (
    <section aria-label={workspace}>
      {several && <h2>{workspace}</h2>}
      <Tiles types={types} rows={rows} />
      {whole.every(({ count }) => count === 0) && <p class="empty">{t('overview.none')}</p>}
      <Chart workspace={of} split={split} />
      {logFrom !== null && logFrom.slice(0, 10) > since && (
        <p class="quiet">{t('overview.from', { when: dateTime(logFrom, timeZone) })}</p>
      )}
      <div class="grid">
        <Counts
          title={t('overview.kinds')}
          rows={whole.map(({ type, ...counts }) => ({
            ...{ key: type, name: kind(type), ...counts },
            place: rows({ list: listOf(type.split('.')[1] ?? ''), type: `*.${verbOf(type)}` }),
          }))}
        />
        <Counts
          title={t('overview.owners')}
          rows={owners.map(({ id, name, ...counts }) => ({
            ...{ key: id, name: id === '' ? t('overview.nobody') : name, ...counts },
            place: id === '' ? null : rows({ person: name }),
          }))}
        />
        <FieldCounts fields={fields} {...places} />
      </div>
    </section>
  );
}

interface Places {
  rows: (filter: Readonly<Record<string, string>>) => string;
  listOf: (object: string) => string;
}

function FieldCounts({ fields, rows, listOf }: Places & Pick<Workspace, 'fields'>) {
  const { t, word } = usePreferences();
  return (
    <Counts
      title={t('overview.fields')}
      rows={fields.map(({ object, field, ...counts }) => ({
        key: `${object} ${field}`,
        name: (
          <>
            {field} <span class="quiet small">{word('object', object)}</span>
          </>
        ),
        ...counts,
        place: rows({ list: listOf(object), field }),
      }))}
    />
  );
}

const verbOf = (type: string): string => type.split('.')[2] ?? '';

/** The name of the list of each object. */
function listsOf(workspace: string, { workspaces }: About): ReadonlyMap<string, string> {
  const { lists = [] } = workspaces.find(({ name }) => name === workspace) ?? {};
  return new Map(lists.map(({ object, name }) => [object, name]));
}

const TILES = [
  ['changes', WHOLE, ''],
  ['created', ['created'], '*.created'],
  ['deleted', ['deleted'], '*.deleted'],
  ['completed', ['completed'], '*.completed'],
  ['overdue', ['overdue'], '*.overdue'],
] as const;

function Tiles({ types, rows }: Pick<Workspace, 'types'> & Pick<Places, 'rows'>) {
  const { t, number } = usePreferences();
  return (
    <dl class="tiles">
      {TILES.map(([name, verbs, type]) => {
        const own = types.filter((one) => (verbs as readonly string[]).includes(verbOf(one.type)));
        const sum = (of: 'count' | 'before'): number => own.reduce((all, one) => all + one[of], 0);
        return (
          <div key={name}>
            <dt>{t(`overview.${name}`)}</dt>
            <dd>
              <a href={rows({ type })}>{number(sum('count'))}</a>{' '}
              <span class="quiet small">{t('overview.before', { count: number(sum('before')) })}</span>
            </dd>
          </div>
        );
      })}
    </dl>
  );
}

function Chart({ workspace, split }: { workspace: Workspace; split: Split }) {
  const { t, word } = usePreferences();
  const { days, timeZone } = workspace;
  const { times, series } = useMemo(() => {
    const partOf = (type: string): string => type.split('.')[split === 'list' ? 1 : 2] ?? '';
    const isShown = (type: string): boolean => WHOLE.includes(verbOf(type));
    const of = (types: Readonly<Record<string, number>>, isMeant: (part: string) => boolean): number =>
      Object.entries(types).reduce(
        (sum, [type, count]) => sum + (isShown(type) && isMeant(partOf(type)) ? count : 0),
        0,
      );
    const totals = new Map<string, number>();
    for (const { types } of days)
      for (const [type, count] of Object.entries(types))
        if (isShown(type)) totals.set(partOf(type), (totals.get(partOf(type)) ?? 0) + count);
    const parts = [...totals].sort(([, one], [, other]) => other - one).map(([part]) => part);
    const [top, rest] = [parts.slice(0, MOST_SERIES), parts.slice(MOST_SERIES)];
    const seriesOf = (label: string, colour: number, isMeant: (part: string) => boolean) => ({
      ...{ label, colour },
      values: days.map(({ types }) => of(types, isMeant)),
    });
    return {
      times: days.map(({ date }) => Date.parse(`${date}T12:00:00`) / 1_000),
      series: [
        ...top.map((part, at) =>
          seriesOf(word(split === 'list' ? 'object' : 'verb', part), at + 1, (one) => one === part),
        ),
        ...(rest.length > 0 ? [seriesOf(t('todos.others'), MOST_SERIES + 1, (one) => rest.includes(one))] : []),
      ],
    };
  }, [days, split, t, word]);
  if (series.length === 0) return null;
  return (
    <div class="card">
      <Plot title={t('overview.plot', { zone: timeZone })} times={times} series={series} bars days />
    </div>
  );
}

interface CountRow {
  key: string;
  name: ComponentChildren;
  count: number;
  before: number;
  place: string | null;
}

function Counts({ title, rows }: { title: string; rows: readonly CountRow[] }) {
  const { t, number } = usePreferences();
  const shown = rows.filter(({ count }) => count > 0).slice(0, SHOWN_ROWS);
  if (shown.length === 0) return null;
  return (
    <section class="card" aria-label={title}>
      <h2>{title}</h2>
      <table>
        <Columns names={[[t('overview.name')], [t('overview.count'), 'right'], [t('overview.difference'), 'right']]} />
        <tbody>
          {shown.map(({ key, name, count, before, place }) => (
            <tr key={key}>
              <th scope="row" class="wrap">
                {name}
              </th>
              <td class="right">{place === null ? number(count) : <a href={place}>{number(count)}</a>}</td>
              <td class="right quiet">{number(before)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** It reads every todo: the rest of the view does not wait for it. */
function Behind() {
  const { t, number } = usePreferences();
  const { value, error } = usePolled(pathOf('readTodos', { since: '30d' }), 60_000);
  const people = (value?.workspaces ?? [])
    .flatMap(({ people: all }) => all)
    .filter(({ overdue }) => overdue > 0)
    .sort((one, other) => other.overdue - one.overdue)
    .slice(0, SHOWN_ROWS);
  return (
    <section class="card" aria-label={t('overview.behind')}>
      <h2>{t('overview.behind')}</h2>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : people.length === 0 ? (
        <p class="quiet">{t('overview.behind.none')}</p>
      ) : (
        <ul class="plain-list">
          {people.map(({ id, name, overdue }) => (
            <li key={id}>
              {name ?? t('todos.nobody')}: <strong>{number(overdue)}</strong>
            </li>
          ))}
        </ul>
      )}
      <p>
        <a href={placeOf('todos')}>{t('overview.todos')}</a>
      </p>
    </section>
  );
}

function Failed({ subscriptions }: { subscriptions: NonNullable<SectionProps['status']>['subscriptions'] }) {
  const { t, number, dateTime } = usePreferences();
  const failed = subscriptions.filter(({ dead, failingSince }) => dead > 0 || failingSince !== null);
  if (failed.length === 0) return <p class="quiet">{t('overview.failed.none')}</p>;
  return (
    <ul class="plain-list">
      {failed.map(({ name, dead, failingSince }) => (
        <li key={name}>
          <a href={placeOf('subscriptions', { name })}>
            <Named name={name} plain />
          </a>{' '}
          {dead > 0 && (
            <a href={placeOf('dead', { subscription: name })}>
              {t('sub.dead')} {number(dead)}
            </a>
          )}{' '}
          {failingSince !== null && <span class="bad-text">{t('sub.failing', { when: dateTime(failingSince) })}</span>}
        </li>
      ))}
    </ul>
  );
}
