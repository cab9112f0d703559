/** Open, due, overdue and completed todos, by person in charge and by day. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import { pathOf, type Answered } from '../api.js';
import { placeOf, usePlace, usePolled } from '../hooks.js';
import { Choice, Columns, Head, NamedFacts } from '../parts.js';
import { Plot, type Series } from '../plot.js';
import { usePreferences } from '../preferences.js';
import { SheetButtons } from '../sheet.js';
import { CountLink, idOf, TODO_COUNTS, TodoRows, useMe, type Asked } from '../todo-rows.js';

type Workspace = Answered<'readTodos'>['workspaces'][number];
type Group = Workspace['people'][number];
const PERIODS = ['7', '30', '90'] as const;
/** People with a colour of their own in the plot. */
const MOST_PEOPLE = 5;

export function Todos() {
  const { t } = usePreferences();
  const asked: Asked = Object.fromEntries(usePlace().query);
  const days = PERIODS.find((one) => one === asked.days) ?? '30';
  const [me, setMe] = useMe();
  const { value, error } = usePolled(pathOf('readTodos', { since: `${days}d` }), 20_000);
  const all = value?.workspaces.flatMap((one) => one.people) ?? [];
  const named = all.flatMap(({ id, name }) => (id === null ? [] : ([[id, name ?? id]] as [string, string][])));
  const people = [...new Map(named)].map(([id, name]) => ({ id, name }));
  if (asked.show !== undefined)
    return (
      <>
        <Head title={t('todos.title')}>
          <a href={placeOf('todos', { days })}>{t('todos.back')}</a>
        </Head>
        <TodoRows asked={asked} people={people} />
      </>
    );
  return (
    <>
      <Head title={t('todos.title')}>
        <Choice
          label={t('todos.period')}
          value={days}
          onChoose={(one) => (location.hash = placeOf('todos', { days: one }))}
          options={PERIODS.map((one) => [one, t('todos.days', { count: one })])}
        />
        <Choice
          label={t('todos.me')}
          value={me}
          onChoose={setMe}
          options={[['', '—'], ...people.map(({ id, name }) => [id, name] as const)]}
        />
        {me !== '' && <a href={placeOf('todos', { show: 'open', owner: me, days })}>{t('todos.minePage')}</a>}
        <SheetButtons verb="readTodos" input={{ since: `${days}d` }} name="todos" />
      </Head>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        value.workspaces.map((one) => (
          <Of key={one.workspace} workspace={one} several={value.workspaces.length > 1} at={value.at} days={days} />
        ))
      )}
    </>
  );
}

function Of({ workspace, several, at, days }: { workspace: Workspace; several: boolean; at: string; days: string }) {
  const { t, percent, dateTime } = usePreferences();
  const { total, asOf, strangeDue, people, teams, timeZone } = workspace;
  const of = { days, workspace: workspace.workspace };
  const tones = { open: '', dueToday: '', overdue: total.overdue > 0 ? 'bad' : '', completed: 'good' };
  const tiles: [string, ComponentChildren, string][] = [
    ...TODO_COUNTS.map((show): [string, ComponentChildren, string] => [
      t(`todos.${show}`),
      <CountLink {...of} show={show} count={total[show]} label={`${t(`todos.${show}`)}: ${total[show]}`} />,
      tones[show],
    ]),
    [t('todos.rate'), total.completionRate === null ? '—' : percent(total.completionRate), ''],
  ];
  return (
    <section aria-label={workspace.workspace}>
      {several && <h2>{workspace.workspace}</h2>}
      {asOf !== null && <p class="quiet">{t('todos.intro', { when: dateTime(asOf, timeZone), zone: timeZone })}</p>}
      {strangeDue !== null && (
        <p class="bad-text">{t('todos.strangeDue', { count: strangeDue.todos, example: strangeDue.example })}</p>
      )}
      <NamedFacts class="tiles" facts={tiles} />
      <Completed workspace={workspace} at={at} />
      <Groups
        title={t('todos.person')}
        nameless={t('todos.nobody')}
        groups={people}
        asked={(id) => ({ ...of, owner: id })}
      />
      {teams.some(({ id }) => id !== null) && (
        <Groups
          title={t('todos.team')}
          nameless={t('todos.noTeam')}
          groups={teams}
          asked={(id) => ({ ...of, team: id })}
        />
      )}
    </section>
  );
}

function Completed({ workspace: { days, people, timeZone, since }, at }: { workspace: Workspace; at: string }) {
  const { t, number } = usePreferences();
  const { times, dates, series } = useMemo(() => {
    const top = people.filter(({ completed }) => completed > 0).sort((a, b) => b.completed - a.completed);
    const all = datesBetween({ since, at, timeZone });
    const byDate = new Map(days.map((day) => [day.date, day]));
    const of = (date: string, id: string | null): number =>
      byDate.get(date)?.people.find((one) => one.id === id)?.completed ?? 0;
    const shown = top.slice(0, MOST_PEOPLE).map(({ id, name }, index) => ({
      label: name ?? t('todos.nobody'),
      colour: index + 1,
      values: all.map((date) => of(date, id)),
    }));
    const others = all.map(
      (date, index) =>
        (byDate.get(date)?.completed ?? 0) - shown.reduce((sum, one) => sum + (one.values[index] ?? 0), 0),
    );
    const rest: Series[] = others.some((count) => count > 0)
      ? [{ label: t('todos.others'), colour: 6, values: others }]
      : [];
    return {
      times: all.map((date) => Date.parse(`${date}T12:00:00`) / 1_000),
      dates: all,
      series: [...shown, ...rest],
    };
  }, [days, people, since, at, timeZone, t]);
  if (series.length === 0) return null;
  return (
    <div class="card">
      <Plot title={t('todos.plot', { zone: timeZone })} times={times} series={series} bars days />
      <details>
        <summary>{t('table.data')}</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={t('table.data')}>
          <table>
            <Columns names={[[t('table.day')], ...series.map(({ label }) => [label, 'right'] as const)]} />
            <tbody>
              {dates.map((date, index) => (
                <tr key={date}>
                  <th scope="row">{date}</th>
                  {series.map(({ label, values }) => (
                    <td key={label} class="right">
                      {number(values[index] ?? 0)}
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </details>
    </div>
  );
}

interface GroupsProps {
  title: string;
  nameless: string;
  groups: readonly Group[];
  asked: (id: string) => Asked;
}

function Groups({ title, nameless, groups, asked }: GroupsProps) {
  const { t, percent, duration } = usePreferences();
  const columns = [...TODO_COUNTS, 'rate', 'median'] as const;
  return (
    <div class="card wide">
      <table class="cards-when-narrow">
        <Columns names={[[title], ...columns.map((name) => [t(`todos.${name}`), 'right'] as const)]} />
        <tbody>
          {groups.map((group) => (
            <tr key={group.id}>
              <th scope="row">{group.name ?? nameless}</th>
              {TODO_COUNTS.map((name) => (
                <td
                  key={name}
                  class={`right ${name === 'overdue' && group.overdue > 0 ? 'bad-text' : ''}`}
                  data-label={t(`todos.${name}`)}
                >
                  <CountLink
                    {...asked(idOf(group.id))}
                    show={name}
                    count={group[name]}
                    label={`${group.name ?? nameless}, ${t(`todos.${name}`)}: ${group[name]}`}
                  />
                </td>
              ))}
              <td class="right" data-label={t('todos.rate')}>
                {group.completionRate === null ? '—' : percent(group.completionRate)}
              </td>
              <td class="right" data-label={t('todos.median')}>
                {group.medianMsToComplete === null ? '—' : duration(group.medianMsToComplete)}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function datesBetween({ since, at, timeZone }: { since: string; at: string; timeZone: string }): string[] {
  const dateOf = (ms: number): string => new Date(ms).toLocaleDateString('sv-SE', { timeZone });
  const end = dateOf(Date.parse(at));
  const dates: string[] = [];
  for (let ms = Date.parse(since); dates.at(-1) !== end && dates.length < 400; ms += 86_400_000) {
    const date = dateOf(ms);
    dates.push(date > end ? end : date);
  }
  return dates;
}
