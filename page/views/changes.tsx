/** The section of changes: the newest events, live, with filters that are part of the address. */
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import {
  beside,
  act,
  messageOf,
  pathWith,
  type About,
  type Answered,
  type EventView,
  type SectionProps,
} from '../api.js';
import { EventRow } from '../event-row.js';
import { groupEvents } from '../group-events.js';
import { placeOf, useNow, usePlace, useSettled } from '../hooks.js';
import { Choice, Filter, Head, TextField } from '../parts.js';
import { usePreferences } from '../preferences.js';
import { SheetButtons } from '../sheet.js';

const FILTERS = ['workspace', 'list', 'type', 'field', 'person', 'actor', 'text', 'record', 'since', 'until'] as const;
type Given = Readonly<Partial<Record<(typeof FILTERS)[number], string>>>;
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

export function Changes({ about, canAct }: SectionProps) {
  const { t, clock, number } = usePreferences();
  const { query } = usePlace();
  const filter: Given = Object.fromEntries(
    FILTERS.flatMap((name) => (query.get(name) ? [[name, query.get(name) ?? '']] : [])),
  );
  const settled = useSettled(filter, 250);
  const feed = useFeed(settled);
  const now = useNow();
  const everything = query.get('show') === 'all';
  const groups = useMemo(() => groupEvents(feed.events), [feed.events]);
  const rows = everything ? groups : groups.filter(({ lead }) => lead.edit);
  const erasing = {
    listOf: ({ workspace, object }: EventView) =>
      about.workspaces.find(({ name }) => name === workspace)?.lists.find((list) => list.object === object)?.name,
    again: feed.again,
  };
  const isShort = rows.length < FEW_ROWS && feed.events.length > 0 && feed.events.length < MOST_SHOWN;
  useEffect(() => {
    if (isShort && feed.next !== null && !feed.loading && feed.error === null) feed.older();
  }, [isShort, feed.next, feed.loading, feed.error]);
  return (
    <>
      <Head title={t('changes.title')}>
        <SheetButtons verb="listEvents" input={questionOf(filter)} name="changes" />
        <p class="line" role="status">
          <span class={`dot ${feed.following ? feed.line : 'paused'}`} />
          {feed.following ? t(feed.line === 'live' ? 'changes.live' : 'changes.cut') : t('changes.paused')}
          <button type="button" aria-pressed={!feed.following} onClick={() => feed.follow(!feed.following)}>
            {feed.following ? t('changes.pause') : t('changes.follow')}
          </button>
        </p>
      </Head>
      <Filters about={about} filter={filter} everything={everything} events={feed.events} />
      {feed.waiting > 0 && (
        <button type="button" class="waiting main" onClick={() => feed.follow(true)}>
          {t('changes.waiting', { count: number(feed.waiting) })}
        </button>
      )}
      {feed.error !== null && <p class="notice bad">{feed.error}</p>}
      <ol class="feed" aria-label={t('changes.feed')}>
        {rows.map((group) => (
          <EventRow
            key={group.key}
            group={group}
            now={now}
            fresh={feed.fresh.has(group.lead.position)}
            erasing={canAct ? erasing : null}
          />
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
  filter: Given;
  everything: boolean;
  events: readonly EventView[];
}

function Filters({ about, filter, everything, events }: FiltersProps) {
  const { t, word } = usePreferences();
  const set = (name: keyof Given | 'show', value: string): void => {
    const show = everything ? 'all' : '';
    history.replaceState(null, '', placeOf('changes', { ...filter, show, [name]: value }));
    dispatchEvent(new HashChangeEvent('hashchange'));
  };
  const lists = [
    ...new Map(
      about.workspaces.flatMap(({ lists: all }) => all.filter((one) => one.enabled)).map((one) => [one.name, one]),
    ).values(),
  ];
  const sorted = (of: (event: EventView) => string[]): string[] => [...new Set(events.flatMap(of))].sort();
  const suggestions = {
    person: sorted(({ person }) => (person === null ? [] : [person.name])),
    actor: [...ACTORS, ...sorted(({ actor }) => (actor?.name ? [actor.name] : []))],
    field: sorted(({ changes }) => changes.map(({ field }) => field)),
    text: [],
    record: [],
  };
  const given = Object.keys(filter).length;
  const [open, setOpen] = useState(given > 0);
  return (
    <form class="filters" role="search" aria-label={t('filter.title')} onSubmit={(event) => event.preventDefault()}>
      <button type="button" class="only-narrow" aria-expanded={open} onClick={() => setOpen(!open)}>
        {t('filter.title')}
        {given > 0 && <span class="badge">{given}</span>}
      </button>
      <div class={open ? 'fields' : 'fields folded'}>
        <Choice
          label={t('filter.show')}
          value={everything ? 'all' : ''}
          onChoose={(value) => set('show', value)}
          options={[
            ['', t('filter.edits')],
            ['all', t('filter.everything')],
          ]}
        />
        {about.workspaces.length > 1 && (
          <Filter
            label={t('filter.workspace')}
            value={filter.workspace}
            onChoose={(value) => set('workspace', value)}
            options={about.workspaces.map(({ name }) => [name, name])}
          />
        )}
        <Filter
          label={t('filter.list')}
          value={filter.list}
          onChoose={(value) => set('list', value)}
          options={lists.map(({ name }) => [name, word('list', name)])}
        />
        <Filter
          label={t('filter.type')}
          value={filter.type}
          onChoose={(value) => set('type', value)}
          options={[
            ...VERBS.map((verb) => [`*.${verb}`, word('verb', verb)] as const),
            ['changefeed.*', word('object', 'feed')],
          ]}
        />
        {(['person', 'actor', 'field', 'text', 'record'] as const).map(
          (name) =>
            (name !== 'record' || filter.record !== undefined) && (
              <TextField
                key={name}
                label={t(`filter.${name}`)}
                value={filter[name]}
                onText={(value) => set(name, value)}
                id={name}
                suggestions={suggestions[name]}
              />
            ),
        )}
        {(['since', 'until'] as const).map((name) => (
          <TextField
            key={name}
            type={isMoment(filter[name]) ? 'datetime-local' : 'date'}
            label={t(`filter.${name}`)}
            value={isMoment(filter[name]) ? inputOf(filter[name] ?? '') : filter[name]}
            onText={(value) => set(name, value)}
          />
        ))}
        {given > 0 && (
          <a class="button" href="#/changes">
            {t('filter.clear')}
          </a>
        )}
      </div>
    </form>
  );
}

/** A digest names the moments of its first and its last change; a person chooses days. */
function isMoment(given: string | undefined): boolean {
  return given?.includes('T') === true && !Number.isNaN(Date.parse(given));
}

/** As its input shows a moment: to the minute, where the person is who looks. */
function inputOf(moment: string): string {
  const at = new Date(moment);
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** Days are those of the person who looks, from their first moment to their last. */
function questionOf({ since, until, ...filter }: Given) {
  const at = (given: string | undefined, time: string): string | undefined => {
    if (given === undefined || given === '') return undefined;
    return new Date(isMoment(given) ? given : `${given}T${time}`).toISOString();
  };
  return { ...filter, since: at(since, '00:00:00'), until: at(until, '23:59:59.999') };
}

/** After a first page that failed. */
const TRY_AGAIN_MS = 3_000;

/** The newest events of the log, and then each as it comes. */
function useFeed(filter: Given) {
  const [events, setEvents] = useState<readonly EventView[]>([]);
  const [waiting, setWaiting] = useState<readonly EventView[]>([]);
  const [page, setPage] = useState<Answered<'listEvents'>>({
    events: [],
    next: null,
    searchedBackTo: null,
    searched: 0,
    end: '',
  });
  const [loading, setLoading] = useState(true);
  const [error, setError] = useState<string | null>(null);
  const [line, setLine] = useState<'live' | 'cut'>('live');
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
    act('listEvents', { ...questionOf(filter), limit: PAGE })
      .then((first) => {
        if (ended) return;
        setEvents(first.events);
        setPage(first);
        setLoading(false);
        const { since: _, until, ...followed } = filter;
        // What comes next is not of a period that has ended.
        if (until !== undefined) return;
        stream = new EventSource(beside(pathWith('/events', { ...followed, view: 'summary', from: first.end })));
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
        setError(messageOf(reason));
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
    act('listEvents', { ...questionOf(filter), limit: PAGE, before: page.next })
      .then((older) => {
        setEvents((before) => [...before, ...older.events]);
        setPage({ ...older, searched: page.searched + older.searched });
      })
      .catch((reason: unknown) => setError(messageOf(reason)))
      .finally(() => setLoading(false));
  };
  const follow = (isFollowed: boolean): void => {
    paused.current = !isFollowed;
    setFollowing(isFollowed);
    if (!isFollowed) return;
    setEvents((before) =>
      waiting.toReversed().reduce<readonly EventView[]>((all, event) => newestFirst(event, all), before),
    );
    setWaiting([]);
  };
  const { next, searchedBackTo, searched } = page;
  return {
    ...{ events, next, searchedBackTo, searched, loading, error, line, following, follow, older },
    /** Reads the newest events anew. */
    again: () => setAttempt((count) => count + 1),
    /** Positions of events that came while the page was open. */
    fresh: fresh.current as ReadonlySet<string>,
    /** New events that are not shown, because the feed is paused. */
    waiting: waiting.length,
  };
}

/** The stream may repeat an event that the first page has shown. */
function newestFirst(event: EventView, before: readonly EventView[]): readonly EventView[] {
  if (before.slice(0, 300).some(({ position }) => position === event.position)) return before;
  return [event, ...before].slice(0, MOST_SHOWN);
}
