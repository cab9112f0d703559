/** What changed just now: the newest events, live, with filters that are part of the address. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ask, pathWith, type About, type EventsPage, type EventView } from '../api.js';
import { Choice } from '../choice.js';
import { EventRow } from '../event-row.js';
import { groupEvents } from '../group-events.js';
import { placeOf, useNow, usePlace, useSettled } from '../hooks.js';
import { usePreferences } from '../preferences.js';

const FILTERS = ['workspace', 'list', 'type', 'field', 'person', 'actor', 'text', 'record'] as const;
type Filter = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;
const VERBS = [
  'created',
  'updated',
  'deleted',
  'completed',
  'reopened',
  'rescheduled',
  'reassigned',
  'due_soon',
  'overdue',
  'snapshot',
  'schema_changed',
] as const;
const ACTORS = ['user', 'workflow', 'sequence', 'api', 'field', 'unknown'] as const;
/** As many as the API gives: an edit is several events. */
const PAGE = '200';
/** Fewer rows do not fill a screen; older events are then loaded without a click. */
const FEW_ROWS = 15;
/** Events that the page holds; older ones are a button away. */
const MOST_SHOWN = 1_000;

type Line = 'live' | 'cut';

export function Changes({ about }: { about: About }) {
  const { t, clock, number } = usePreferences();
  const { query } = usePlace();
  const filter: Filter = Object.fromEntries(
    FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? '']] : [])),
  );
  const settled = useSettled(filter, 250);
  const feed = useFeed(settled);
  const now = useNow();
  const everything = query.get('show') === 'all';
  const groups = useMemo(() => groupEvents(feed.events), [feed.events]);
  const rows = everything ? groups : groups.filter(({ lead }) => lead.edit);
  const isShort = rows.length < FEW_ROWS && feed.events.length > 0 && feed.events.length < MOST_SHOWN;
  useEffect(() => {
    if (isShort && feed.next !== null && !feed.loading && feed.error === null) feed.older();
  }, [isShort, feed.next, feed.loading, feed.error]);
  return (
    <>
      <div class="head">
        <h1>{t('changes.title')}</h1>
        <p class="line" role="status">
          <span class={`dot ${feed.following ? feed.line : 'paused'}`} />
          {feed.following ? t(feed.line === 'live' ? 'changes.live' : 'changes.cut') : t('changes.paused')}
          <button type="button" aria-pressed={!feed.following} onClick={() => feed.follow(!feed.following)}>
            {feed.following ? t('changes.pause') : t('changes.follow')}
          </button>
        </p>
      </div>
      <Filters about={about} filter={filter} everything={everything} events={feed.events} />
      {feed.waiting > 0 && (
        <button type="button" class="waiting main" onClick={() => feed.follow(true)}>
          {t('changes.waiting', { count: number(feed.waiting) })}
        </button>
      )}
      {feed.error !== null && <p class="notice bad">{feed.error}</p>}
      <ol class="feed" aria-label={t('changes.feed')}>
        {rows.map((group) => (
          <EventRow key={group.key} group={group} now={now} fresh={feed.fresh.has(group.lead.position)} />
        ))}
      </ol>
      {rows.length === 0 && feed.events.length > 0 && <p class="empty">{t('changes.noEdits')}</p>}
      {feed.events.length === 0 && !feed.loading && (
        <p class="empty">
          {Object.keys(filter).length === 0
            ? t('changes.noneYet')
            : feed.next === null || feed.searchedBackTo === null
              ? t('changes.none')
              : t('changes.noneNewest', { count: number(feed.searched), when: clock(feed.searchedBackTo) })}
        </p>
      )}
      <p class="more">
        {feed.loading ? (
          <span class="quiet">{t('loading')}</span>
        ) : feed.next !== null ? (
          <button onClick={feed.older}>{feed.events.length === 0 ? t('changes.goOn') : t('changes.older')}</button>
        ) : (
          <span class="quiet">{t('changes.start')}</span>
        )}
        {feed.next !== null && feed.searchedBackTo !== null && feed.events.length > 0 && (
          <span class="quiet"> {t('changes.searched', { when: clock(feed.searchedBackTo) })}</span>
        )}
      </p>
    </>
  );
}

interface FiltersProps {
  about: About;
  filter: Filter;
  everything: boolean;
  events: readonly EventView[];
}

function Filters({ about, filter, everything, events }: FiltersProps) {
  const { t, word } = usePreferences();
  const set = (name: keyof Filter | 'show', value: string): void => {
    const show = everything ? 'all' : '';
    history.replaceState(null, '', placeOf('changes', { ...filter, show, [name]: value }));
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  const lists = [
    ...new Map(
      about.workspaces.flatMap(({ lists: all }) => all.filter((one) => one.enabled)).map((one) => [one.name, one]),
    ).values(),
  ];
  const fields = [...new Set(events.flatMap(({ changes }) => changes.map(({ field }) => field)))].sort();
  const people = [...new Set(events.flatMap(({ person }) => (person === null ? [] : [person.name])))].sort();
  const actors = [...new Set(events.flatMap(({ actor }) => (actor?.name ? [actor.name] : [])))].sort();
  const given = Object.keys(filter).length;
  const [open, setOpen] = useState(given > 0);
  return (
    <form class="filters" role="search" aria-label={t('filter.title')} onSubmit={(event) => event.preventDefault()}>
      <button type="button" class="only-narrow" aria-expanded={open} onClick={() => setOpen(!open)}>
        {t('filter.title')}
        {given > 0 && <span class="badge">{given}</span>}
      </button>
      <div class={open ? 'fields' : 'fields folded'}>
        <label>
          {t('filter.show')}
          <select value={everything ? 'all' : ''} onChange={(event) => set('show', event.currentTarget.value)}>
            <option value="">{t('filter.edits')}</option>
            <option value="all">{t('filter.everything')}</option>
          </select>
        </label>
        {about.workspaces.length > 1 && (
          <Choice
            label={t('filter.workspace')}
            value={filter.workspace}
            onChoose={(value) => set('workspace', value)}
            options={about.workspaces.map(({ name }) => [name, name])}
          />
        )}
        <Choice
          label={t('filter.list')}
          value={filter.list}
          onChoose={(value) => set('list', value)}
          options={lists.map(({ name }) => [name, word('list', name)])}
        />
        <Choice
          label={t('filter.type')}
          value={filter.type}
          onChoose={(value) => set('type', value)}
          options={[
            ...VERBS.map((verb) => [`*.${verb}`, word('verb', verb)] as const),
            ['changefeed.*', word('object', 'feed')],
          ]}
        />
        <Text
          label={t('filter.person')}
          value={filter.person}
          onText={(value) => set('person', value)}
          suggestions={people}
          id="people"
        />
        <Text
          label={t('filter.actor')}
          value={filter.actor}
          onText={(value) => set('actor', value)}
          suggestions={[...ACTORS, ...actors]}
          id="actors"
        />
        <Text
          label={t('filter.field')}
          value={filter.field}
          onText={(value) => set('field', value)}
          suggestions={fields}
          id="fields"
        />
        <Text
          label={t('filter.text')}
          value={filter.text}
          onText={(value) => set('text', value)}
          suggestions={[]}
          id="texts"
        />
        {filter.record !== undefined && (
          <Text
            label={t('filter.record')}
            value={filter.record}
            onText={(value) => set('record', value)}
            suggestions={[]}
            id="records"
          />
        )}
        {given > 0 && (
          <a class="button" href="#/changes">
            {t('filter.clear')}
          </a>
        )}
      </div>
    </form>
  );
}

interface TextProps {
  label: string;
  value: string | undefined;
  onText: (value: string) => void;
  suggestions: readonly string[];
  id: string;
}

function Text({ label, value = '', onText, suggestions, id }: TextProps) {
  return (
    <label>
      {label}
      <input
        type="search"
        value={value}
        list={`suggested-${id}`}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <datalist id={`suggested-${id}`}>
        {suggestions.slice(0, 50).map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </label>
  );
}

interface Feed {
  events: readonly EventView[];
  /** Positions of events that came while the page was open. */
  fresh: ReadonlySet<string>;
  /** New events that are not shown, because the feed is paused. */
  waiting: number;
  next: string | null;
  searchedBackTo: string | null;
  /** Events that were looked at so far. */
  searched: number;
  loading: boolean;
  error: string | null;
  line: Line;
  following: boolean;
  follow: (following: boolean) => void;
  older: () => void;
}

/** After a first page that failed. */
const TRY_AGAIN_MS = 3_000;

/** The newest events of the log, and then each as it comes. */
function useFeed(filter: Filter): Feed {
  const [events, setEvents] = useState<readonly EventView[]>([]);
  const [waiting, setWaiting] = useState<readonly EventView[]>([]);
  const [page, setPage] = useState<Pick<EventsPage, 'next' | 'searchedBackTo' | 'searched'>>({
    next: null,
    searchedBackTo: null,
    searched: 0,
  });
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<string | null>(null);
  const [line, setLine] = useState<Line>('live');
  const [following, setFollowing] = useState(true);
  const fresh = useRef(new Set<string>());
  const paused = useRef(false);
  const [attempt, setAttempt] = useState(1);
  const known = JSON.stringify(filter);

  useEffect(() => {
    let stream: EventSource | undefined;
    let again: ReturnType<typeof setTimeout> | undefined;
    let ended = false;
    setLoading(true);
    setError(null);
    setWaiting([]);
    fresh.current = new Set();
    ask<EventsPage>('/api/events', { ...filter, limit: PAGE })
      .then((first) => {
        if (ended) return;
        setEvents(first.events);
        setPage(first);
        setLoading(false);
        stream = new EventSource(pathWith('/events', { ...filter, view: 'summary', from: first.end }));
        stream.onopen = () => setLine('live');
        stream.onerror = () => setLine('cut');
        stream.onmessage = ({ data }) => {
          const event = JSON.parse(data as string) as EventView;
          fresh.current.add(event.position);
          if (paused.current) setWaiting((before) => newestFirst(event, before));
          else setEvents((before) => newestFirst(event, before));
        };
      })
      .catch((reason: unknown) => {
        if (ended) return;
        setEvents([]);
        setLoading(false);
        setError(reason instanceof Error ? reason.message : '');
        again = setTimeout(() => setAttempt(attempt + 1), TRY_AGAIN_MS);
      });
    return () => {
      ended = true;
      clearTimeout(again);
      stream?.close();
    };
  }, [known, attempt]);

  const older = (): void => {
    if (page.next === null) return;
    setLoading(true);
    ask<EventsPage>('/api/events', { ...filter, limit: PAGE, before: page.next })
      .then((next) => {
        setEvents((before) => [...before, ...next.events]);
        setPage({ ...next, searched: page.searched + next.searched });
      })
      .catch((reason: unknown) => setError(reason instanceof Error ? reason.message : ''))
      .finally(() => setLoading(false));
  };
  const follow = (next: boolean): void => {
    paused.current = !next;
    setFollowing(next);
    if (!next) return;
    setEvents((before) =>
      waiting.toReversed().reduce<readonly EventView[]>((all, event) => newestFirst(event, all), before),
    );
    setWaiting([]);
  };
  return {
    // First: a page has events too, those that it began with.
    ...page,
    events,
    fresh: fresh.current,
    waiting: waiting.length,
    loading,
    error,
    line,
    following,
    follow,
    older,
  };
}

/** The stream may repeat an event that the first page has shown. */
function newestFirst(event: EventView, before: readonly EventView[]): readonly EventView[] {
  if (before.slice(0, 300).some(({ position }) => position === event.position)) return before;
  return [event, ...before].slice(0, MOST_SHOWN);
}
