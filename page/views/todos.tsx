/** Open, due, overdue and completed todos, by person in charge and by day. */
import { useMemo, useState } from 'preact/hooks';
import { pathWith, type TodosReport } from '../api.js';
import { usePolled } from '../hooks.js';
import { Plot, type Series } from '../plot.js';
import { usePreferences } from '../preferences.js';

type Workspace = TodosReport['workspaces'][number];
type Group = Workspace['people'][number];
const PERIODS = [7, 30, 90] as const;
/** People with a colour of their own in the plot. */
const MOST_PEOPLE = 5;

export function Todos() {
  const { t } = usePreferences();
  const [days, setDays] = useState<number>(30);
  const { value, error } = usePolled<TodosReport>(pathWith('/api/todos', { since: `${days}d` }), 20_000);
  return (
    <>
      <div class="head">
        <h1>{t('todos.title')}</h1>
        <label>
          {t('todos.period')}{' '}
          <select value={days} onChange={(event) => setDays(Number(event.currentTarget.value))}>
            {PERIODS.map((one) => (
              <option key={one} value={one}>
                {t('todos.days', { count: one })}
              </option>
            ))}
          </select>
        </label>
      </div>
      {value === null ? (
        <p class="quiet">{error ?? t('loading')}</p>
      ) : (
        value.workspaces.map((one) => (
          <Of
            key={one.workspace}
            workspace={one}
            several={value.workspaces.length > 1}
            since={one.since}
            at={value.at}
          />
        ))
      )}
    </>
  );
}

function Of({ workspace, several, since, at }: { workspace: Workspace; several: boolean; since: string; at: string }) {
  const { t, number, percent, dateTime } = usePreferences();
  const { total, asOf, strangeDue, people, teams, timeZone } = workspace;
  const tiles: [string, string, string][] = [
    [t('todos.open'), number(total.open), ''],
    [t('todos.dueToday'), number(total.dueToday), ''],
    [t('todos.overdue'), number(total.overdue), total.overdue > 0 ? 'bad' : ''],
    [t('todos.completed'), number(total.completed), 'good'],
    [t('todos.rate'), total.completionRate === null ? '—' : percent(total.completionRate), ''],
  ];
  return (
    <section aria-label={workspace.workspace}>
      {several && <h2>{workspace.workspace}</h2>}
      {asOf !== null && <p class="quiet">{t('todos.intro', { when: dateTime(asOf, timeZone), zone: timeZone })}</p>}
      {strangeDue !== null && (
        <p class="bad-text">{t('todos.strangeDue', { count: strangeDue.todos, example: strangeDue.example })}</p>
      )}
      <dl class="tiles">
        {tiles.map(([name, value, kind]) => (
          <div key={name} class={kind}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <Completed workspace={workspace} since={since} at={at} />
      <Groups title={t('todos.person')} nameless={t('todos.nobody')} groups={people} />
      {teams.some(({ id }) => id !== null) && (
        <Groups title={t('todos.team')} nameless={t('todos.noTeam')} groups={teams} />
      )}
    </section>
  );
}

function Completed({
  workspace: { days, people, timeZone },
  since,
  at,
}: {
  workspace: Workspace;
  since: string;
  at: string;
}) {
  const { t, number } = usePreferences();
  const top = useMemo(
    () =>
      people
        .toSorted((a, b) => b.completed - a.completed)
        .filter(({ completed }) => completed > 0)
        .slice(0, MOST_PEOPLE),
    [people],
  );
  const { times, dates, series } = useMemo(() => {
    const all = datesBetween({ since, at, timeZone });
    const byDate = new Map(days.map((day) => [day.date, day]));
    const of = (date: string, id: string | null): number =>
      byDate.get(date)?.people.find((one) => one.id === id)?.completed ?? 0;
    const shown: Series[] = top.map(({ id, name }, index) => ({
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
  }, [days, top, since, at, timeZone, t]);
  if (series.length === 0) return null;
  return (
    <div class="card">
      <Plot title={t('todos.plot', { zone: timeZone })} times={times} series={series} bars days />
      <details>
        <summary>{t('table.data')}</summary>
        <div class="scroll" tabIndex={0} role="region" aria-label={t('table.data')}>
          <table>
            <thead>
              <tr>
                <th scope="col">{t('table.day')}</th>
                {series.map(({ label }) => (
                  <th key={label} scope="col" class="right">
                    {label}
                  </th>
                ))}
              </tr>
            </thead>
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

function Groups({ title, nameless, groups }: { title: string; nameless: string; groups: readonly Group[] }) {
  const { t, number, percent, duration } = usePreferences();
  return (
    <div class="card wide">
      <table class="cards-when-narrow">
        <thead>
          <tr>
            <th scope="col">{title}</th>
            {(['open', 'dueToday', 'overdue', 'completed', 'rate', 'median'] as const).map((name) => (
              <th key={name} scope="col" class="right">
                {t(`todos.${name}`)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {groups.map((group) => (
            <tr key={group.id}>
              <th scope="row">{group.name ?? nameless}</th>
              {(['open', 'dueToday', 'overdue', 'completed'] as const).map((name) => (
                <td
                  key={name}
                  class={`right ${name === 'overdue' && group.overdue > 0 ? 'bad-text' : ''}`}
                  data-label={t(`todos.${name}`)}
                >
                  {number(group[name])}
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
