/** How fresh each list is, how it is read, and how much of the request budget is used. */
import { useMemo } from 'preact/hooks';
import { pathOf, type History, type ListStatus, type SectionProps, type WorkspaceStatus } from '../api.js';
import { useNow, usePolled } from '../hooks.js';
import { Columns, Head } from '../parts.js';
import { Plot } from '../plot.js';
import { usePreferences } from '../preferences.js';

export function Lists({ status }: SectionProps) {
  const { t } = usePreferences();
  const { value: history } = usePolled(pathOf('readHistory', {}), 5_000);
  if (status === null) return <p class="quiet">{t('loading')}</p>;
  return (
    <>
      <Head title={t('lists.title')}>{t('lists.intro')}</Head>
      {status.workspaces.map((workspace) => (
        <section key={workspace.name} aria-label={workspace.name}>
          {status.workspaces.length > 1 && <h2>{workspace.name}</h2>}
          <Table workspace={workspace} at={status.at} />
          <Budget workspace={workspace} history={history} />
        </section>
      ))}
    </>
  );
}

function Table({ workspace: { lists }, at }: { workspace: WorkspaceStatus; at: string }) {
  const { t } = usePreferences();
  return (
    <div class="card wide">
      <table class="cards-when-narrow">
        <Columns
          names={[
            [t('lists.list')],
            [t('lists.records'), 'right'],
            [t('lists.fresh')],
            [t('lists.sweep')],
            [t('lists.strategy')],
            [t('lists.actors'), 'right'],
          ]}
        />
        <tbody>
          {lists.map((list) => (
            <Row key={list.list} list={list} at={at} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ list, at }: { list: ListStatus; at: string }) {
  const { t, word, number, percent, duration } = usePreferences();
  const counted = ({ known, of }: { known: number; of: number }) => ({ known: number(known), of: number(of) });
  const now = useNow();
  const sinceStatus = Math.max(0, now - Date.parse(at));
  const fresh = list.freshness;
  const { lastSweep: last, actors } = list;
  return (
    <tr class={list.enabled ? '' : 'off'}>
      <th scope="row">
        {word('list', list.list)}
        <Marks list={list} />
      </th>
      <td class="right" data-label={t('lists.records')}>
        {number(list.records)}
      </td>
      <td data-label={t('lists.fresh')}>
        {!list.enabled
          ? t('lists.off')
          : fresh === null
            ? t(list.baselineAt === null ? 'lists.never' : 'lists.unknown')
            : t('lists.age', { time: duration(fresh.ageMs + sinceStatus) })}
      </td>
      <td data-label={t('lists.sweep')}>
        <Sweep list={list} />
        {last !== null && list.sweeping === null && (
          <span class="quiet">
            {t(last.pages === 1 ? 'lists.tookOne' : 'lists.took', {
              time: last.tookMs === null ? '?' : duration(last.tookMs),
              pages: number(last.pages),
            })}
          </span>
        )}
      </td>
      <td data-label={t('lists.strategy')} class={list.intervalMs === null ? 'automatic' : ''}>
        {list.enabled &&
          (list.intervalMs === null
            ? t('strategy.automatic')
            : t('strategy.interval', { time: duration(list.intervalMs) }))}
      </td>
      <td
        class="right"
        data-label={t('lists.actors')}
        title={actors ? t('lists.actorsOf', counted(actors)) : undefined}
      >
        {actors !== null && actors.of > 0 && percent(actors.known / actors.of)}
      </td>
    </tr>
  );
}

function Marks({ list }: { list: ListStatus }) {
  const { t, number } = usePreferences();
  const mark = (isShown: boolean, kind: string, text: string): [string, string][] => (isShown ? [[kind, text]] : []);
  const marks = [
    ...mark(list.failure !== null, 'bad', t('lists.failing')),
    ...mark(list.late, 'bad', t('lists.late')),
    ...list.held.map(({ what, count }): [string, string] => [
      'warn',
      t(what === 'removals' ? 'lists.held' : 'lists.heldNew', { count: number(count) }),
    ]),
    ...mark(list.silence !== null, 'warn', t('lists.silent')),
  ];
  return (
    <>
      {marks.map(([kind, text]) => (
        <span key={text} class={`mark ${kind}`}>
          {text}
        </span>
      ))}
    </>
  );
}

function Sweep({ list: { sweeping, records } }: { list: ListStatus }) {
  const { t, number } = usePreferences();
  if (sweeping === null) return null;
  const of = Math.max(records, sweeping.records);
  const text = sweeping.running
    ? t('lists.running', { records: number(sweeping.records), of: number(of) })
    : t('lists.interrupted', { pages: number(sweeping.pages) });
  return (
    <span class="sweeping">
      <progress value={sweeping.records} max={Math.max(1, of)} aria-label={text} /> <span class="small">{text}</span>
    </span>
  );
}

function Budget({ workspace: { name, budget }, history }: { workspace: WorkspaceStatus; history: History | null }) {
  const { t, number, percent, duration } = usePreferences();
  const { times, series } = useMemo(() => {
    const samples = history?.samples ?? [];
    const of = samples.map(({ workspaces }) => workspaces.find((one) => one.name === name));
    return {
      times: samples.map(({ at }) => Date.parse(at) / 1_000),
      series: [
        { label: t('budget.used'), colour: 1, values: of.map((one) => (one === undefined ? null : one.used * 100)) },
        { label: t('budget.limit'), colour: 'limit' as const, values: samples.map(() => 100) },
      ],
    };
  }, [history, name, t]);
  return (
    <div class="card">
      <h2>{t('budget.title')}</h2>
      <p>
        {t('budget.now', {
          share: percent(budget.used),
          limit: number(budget.requests),
          seconds: number(budget.perSeconds),
        })}
        {budget.pausedMs > 0 && <strong> {t('budget.paused', { time: duration(budget.pausedMs) })}</strong>}
      </p>
      {times.length === 0 ? (
        <p class="quiet">{t('plot.collecting')}</p>
      ) : (
        <Plot title={t('budget.plot')} times={times} series={series} />
      )}
    </div>
  );
}
