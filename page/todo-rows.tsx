/** The todos behind a number: sorted, in pages, for one person or all. All of it is in the address. */
import { useEffect, useState } from 'preact/hooks';
import type { TodoState } from '../src/crm/todo-counts.js';
import { pathOf, type Answered } from './api.js';
import { placeOf, usePolled } from './hooks.js';
import { Choice } from './parts.js';
import { usePreferences } from './preferences.js';
import { SheetButtons } from './sheet.js';

/** Whose todos, and which. As the address has it. */
export type Asked = Readonly<
  Partial<Record<'show' | 'days' | 'workspace' | 'owner' | 'team' | 'sort' | 'from', string>>
>;
type Row = Answered<'listTodos'>['rows'][number];
type Column = 'title' | 'owner' | 'due' | 'completed';

export const TODO_COUNTS = ['open', 'dueToday', 'overdue', 'completed'] as const;
/** For those without a person or team. */
export const idOf = (id: string | null): string => id ?? 'none';

/** The number itself: it opens its todos. */
export function CountLink({ count, ...asked }: Asked & { count: number; label: string }) {
  const { number } = usePreferences();
  const { label, ...query } = asked;
  if (count === 0) return <>{number(count)}</>;
  return (
    <a href={placeOf('todos', query)} aria-label={label}>
      {number(count)}
    </a>
  );
}

const ME = 'changefeed.me';

/** Who looks, as they have said in this browser. */
export function useMe(): [me: string, setMe: (id: string) => void] {
  const [me, set] = useState(() => {
    try {
      return localStorage.getItem(ME) ?? '';
    } catch {
      return '';
    }
  });
  useEffect(() => {
    try {
      if (me === '') localStorage.removeItem(ME);
      else localStorage.setItem(ME, me);
    } catch {
      // It is kept as long as the page.
    }
  }, [me]);
  return [me, set];
}

const go = (asked: Asked): void => void (location.hash = placeOf('todos', asked));

export function TodoRows({ asked, people }: { asked: Asked; people: readonly { id: string; name: string }[] }) {
  const { t, number } = usePreferences();
  const [me] = useMe();
  const show = TODO_COUNTS.find((one) => one === asked.show) ?? 'open';
  const { days = '30', workspace, owner, team, sort = 'due', from } = asked;
  const input = { show, since: `${days}d`, workspace, owner, team, sort };
  const { value, error } = usePolled(pathOf('listTodos', { ...input, from, limit: 100 }), 20_000);
  const set = (changed: Asked): void => go({ ...asked, from: '', ...changed });
  return (
    <>
      <form class="filters" onSubmit={(event) => event.preventDefault()}>
        <div class="fields">
          <Choice
            label={t('todos.show')}
            value={show}
            onChoose={(one) => set({ show: one })}
            options={TODO_COUNTS.map((one) => [one, t(`todos.${one}`)])}
          />
          <Choice
            label={t('todos.person')}
            value={owner}
            onChoose={(one) => set({ owner: one })}
            options={[
              ['', t('todos.everyone')],
              ...people.map(({ id, name }) => [id, name] as const),
              ['none', t('todos.nobody')],
            ]}
          />
          {me !== '' && (
            <label class="check">
              <input
                type="checkbox"
                checked={owner === me}
                onChange={(event) => set({ owner: event.currentTarget.checked ? me : '' })}
              />{' '}
              {t('todos.mine')}
            </label>
          )}
          <Choice
            label={t('todos.sort')}
            value={sort.replace(/^-/, '')}
            onChoose={(one) => set({ sort: one })}
            options={(['due', 'title', 'owner', 'completed'] as const).map((one) => [one, t(`todos.sort.${one}`)])}
          />
        </div>
      </form>
      {value === null ? (
        <p class={error === null ? 'quiet' : 'notice bad'}>{error ?? t('loading')}</p>
      ) : (
        <>
          <div class="head">
            <p class="quiet" role="status">
              {t('todos.count', { count: value.count })}
            </p>
            <SheetButtons verb="listTodos" input={input} name={`todos ${show}`} />
          </div>
          {value.rows.length === 0 ? (
            <p class="empty">{t('todos.none')}</p>
          ) : (
            <Rows rows={value.rows} show={show} sort={sort} onSort={(one) => set({ sort: one })} />
          )}
          {value.next !== null && (
            <p class="more">
              <a href={placeOf('todos', { ...asked, from: value.next })}>
                {t('todos.next')} ({number(value.count)})
              </a>
            </p>
          )}
        </>
      )}
    </>
  );
}

interface RowsProps {
  rows: readonly Row[];
  show: TodoState;
  sort: string;
  onSort: (sort: string) => void;
}

function Rows({ rows, show, sort, onSort }: RowsProps) {
  const { t, dateTime } = usePreferences();
  const isDone = show === 'completed';
  const heads: [Column | null, string][] = [
    ['title', t('todos.title.one')],
    ['owner', t('todos.person')],
    [null, t('todos.about')],
    ['due', t('todos.due')],
    [null, t('todos.late')],
    ...(isDone ? [['completed', t('todos.doneOn')] as [Column, string]] : []),
  ];
  return (
    <div class="card wide" tabIndex={0} role="region" aria-label={t('todos.title')}>
      <table class="cards-when-narrow">
        <thead>
          <tr>
            {heads.map(([column, label]) => (
              <Heading key={label} column={column} label={label} sort={sort} onSort={onSort} />
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ workspace, id, title, owner, about, due, daysLate, completedAt, link }) => (
            <tr key={`${workspace} ${id}`}>
              <th scope="row" class="wrap">
                <a href={placeOf('records', { workspace, list: 'todo', id })}>{title ?? id}</a>{' '}
                {link !== null && (
                  <a class="quiet" href={link} target="_blank" rel="noreferrer">
                    {t('todos.inCrm')}
                  </a>
                )}
              </th>
              <td data-label={t('todos.person')}>{owner?.name ?? t('todos.nobody')}</td>
              <td data-label={t('todos.about')} class="wrap">
                {about && <a href={placeOf('records', { workspace, list: about.list, id: about.id })}>{about.name}</a>}
              </td>
              <td data-label={t('todos.due')}>{due === null ? '—' : dateTime(due)}</td>
              <td data-label={t('todos.late')} class={daysLate === null ? '' : 'bad-text'}>
                {daysLate !== null &&
                  (daysLate === 0 ? t('todos.lateToday') : t('todos.lateDays', { count: daysLate }))}
              </td>
              {isDone && <td data-label={t('todos.doneOn')}>{completedAt === null ? '—' : dateTime(completedAt)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Heading({
  column,
  label,
  sort,
  onSort,
}: { column: Column | null; label: string } & Omit<RowsProps, 'rows' | 'show'>) {
  const { t } = usePreferences();
  if (column === null) return <th scope="col">{label}</th>;
  const isSorted = sort.replace(/^-/, '') === column;
  const isLastFirst = isSorted && sort.startsWith('-');
  return (
    <th scope="col" aria-sort={!isSorted ? undefined : isLastFirst ? 'descending' : 'ascending'}>
      <button
        type="button"
        class="plain"
        aria-label={t('todos.sortBy', { name: label })}
        onClick={() => onSort(isSorted && !isLastFirst ? `-${column}` : column)}
      >
        {label} {isSorted && (isLastFirst ? '↓' : '↑')}
      </button>
    </th>
  );
}
