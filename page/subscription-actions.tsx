/** The actions of an operator on one subscription besides pausing it: replay with its progress and stop, skip what waits, send a test event. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Action } from './action.js';
import { act, messageOf, type About, type Answered, type Subscription } from './api.js';
import { useSettled } from './hooks.js';
import { useNames } from './names.js';
import { Choice, TextField } from './parts.js';
import { patternOf } from './patterns.js';
import { usePreferences } from './preferences.js';

interface OneProps {
  subscription: Subscription;
  again: () => void;
}

export function Skip({ subscription: { name }, again }: OneProps) {
  const called = useNames()(name);
  const { t, number } = usePreferences();
  const [found, setFound] = useState<Answered<'skip'> | null>(null);
  const count = (): void => {
    setFound(null);
    void act('skip', { subscription: name, dryRun: true }).then(setFound, () => undefined);
  };
  const run = async (): Promise<string> => {
    const done = await act('skip', { subscription: name }).finally(again);
    return t('skip.done', { count: number(done.count) });
  };
  return (
    <Action
      label={t('skip.label')}
      title={t('skip.title', { name: called })}
      danger
      ready={found !== null && found.count > 0}
      onOpen={count}
      run={run}
    >
      {found === null ? (
        <p class="quiet">{t('counting')}</p>
      ) : found.count === 0 ? (
        <p>{t('skip.nothing')}</p>
      ) : (
        <p>
          {t('skip.sure', {
            count: number(found.count),
            unread: number(found.unread),
            queued: number(found.queued),
          })}
          {found.running > 0 && ` ${t('skip.running', { count: number(found.running) })}`}
        </p>
      )}
    </Action>
  );
}

interface Range {
  /** A duration, `beginning`, or `time`: one of the browser's zone. */
  from: string;
  time: string;
  type: string;
  record: string;
  failed: boolean;
}

function bodyOf({ from, time, type, record, failed }: Range): { from: string } | null {
  if (from === 'time' && Number.isNaN(Date.parse(time))) return null;
  return {
    from: from === 'time' ? new Date(time).toISOString() : from,
    ...(type !== '' && { types: [type] }),
    ...(record.trim() !== '' && { record: record.trim() }),
    ...(failed && { failed }),
  };
}

const NO_RANGE: Range = { from: '1h', time: '', type: '', record: '', failed: false };

interface Counted {
  count: number;
  atLeastSeconds: number | null;
}

export function Replay({ subscription: { name, on }, again }: OneProps) {
  const called = useNames()(name);
  const { t, number, duration } = usePreferences();
  const [range, setRange] = useState<Range>(NO_RANGE);
  const [open, setOpen] = useState(false);
  const [found, setFound] = useState<Counted | { error: string } | null>(null);
  const settled = useSettled(range, 300);
  useEffect(() => {
    setFound(null);
    const body = bodyOf(settled);
    if (!open || body === null) return;
    let ended = false;
    act('replay', { subscription: name, ...body, dryRun: true })
      .then(({ count, atLeastSeconds }) => !ended && setFound({ count, atLeastSeconds }))
      .catch((failure: unknown) => !ended && setFound({ error: messageOf(failure) }));
    return () => void (ended = true);
  }, [JSON.stringify(settled), open]);
  const run = async (): Promise<string> => {
    const body = bodyOf(range);
    if (body !== null) await act('replay', { subscription: name, ...body }).finally(again);
    return t('replay.started');
  };
  const isCounted = found !== null && 'count' in found && JSON.stringify(settled) === JSON.stringify(range);
  const set = (part: Partial<Range>): void => setRange({ ...range, ...part });
  return (
    <Action
      label={t('replay.label')}
      title={t('replay.title', { name: called })}
      ready={isCounted && found.count > 0}
      onOpen={() => {
        setRange(NO_RANGE);
        setOpen(true);
      }}
      run={run}
    >
      <RangeFields range={range} set={set} types={on} />
      <p role="status" class={found !== null && 'error' in found ? 'notice bad' : ''}>
        {found === null
          ? t('counting')
          : 'error' in found
            ? found.error
            : t('replay.sure', { count: number(found.count) })}
        {found !== null && 'count' in found && (found.atLeastSeconds ?? 0) > 0 && (
          <> {t('replay.lasts', { duration: duration((found.atLeastSeconds ?? 0) * 1_000) })}</>
        )}
      </p>
    </Action>
  );
}

interface RangeProps {
  range: Range;
  set: (part: Partial<Range>) => void;
  types: readonly string[];
}

function RangeFields({ range, set, types }: RangeProps) {
  const { t } = usePreferences();
  return (
    <>
      <Choice
        label={t('replay.from')}
        value={range.from}
        onChoose={(from) => set({ from })}
        options={(['1h', '24h', '7d', 'time', 'beginning'] as const).map((one) => [one, t(`replay.from.${one}`)])}
      />
      {range.from === 'time' && (
        <label>
          {t('replay.time')}
          <input
            type="datetime-local"
            required
            value={range.time}
            onInput={(event) => set({ time: event.currentTarget.value })}
          />
        </label>
      )}
      <TextField
        label={t('replay.type')}
        value={range.type}
        type="text"
        placeholder={types[0]}
        onText={(type) => set({ type: type.trim() })}
        id="replay-types"
        suggestions={types}
      />
      <TextField label={t('replay.record')} value={range.record} type="text" onText={(record) => set({ record })} />
      <label class="check">
        <input
          type="checkbox"
          checked={range.failed}
          onChange={(event) => set({ failed: event.currentTarget.checked })}
        />{' '}
        {t('replay.failed')}
      </label>
    </>
  );
}

/** Replays that are being sent: how far they are, and a way to stop each. */
export function Replays({ subscription: { name, replays }, again, canAct }: OneProps & { canAct: boolean }) {
  const { t, number, clock } = usePreferences();
  return (
    <>
      {replays.map(({ id, workspace, sent, reached, until }) => (
        <p key={`${id} ${workspace}`} class="notice actions" role="status">
          {t('replay.progress', {
            count: number(sent),
            reached: reached === null ? '–' : clock(reached),
            until: clock(until),
          })}
          {canAct && (
            <Action
              label={t('replay.stop')}
              run={async () => {
                await act('stopReplay', { subscription: name, id }).finally(again);
                return null;
              }}
            >
              <p>{t('replay.stopSure')}</p>
            </Action>
          )}
        </p>
      ))}
    </>
  );
}

const VERBS = ['created', 'updated', 'deleted'];
const OF_TODOS = [...VERBS, 'completed', 'reopened', 'rescheduled', 'reassigned', 'due_soon', 'overdue'];

/** The types of the lists that are read and that the patterns select. */
function typesFor(on: readonly string[], { workspaces }: About): string[] {
  const patterns = on.map(patternOf);
  const objects = workspaces.flatMap(({ lists }) => lists.filter(({ enabled }) => enabled).map(({ object }) => object));
  return [...new Set(objects)]
    .flatMap((object) => (object === 'todo' ? OF_TODOS : VERBS).map((verb) => `crm.${object}.${verb}`))
    .filter((type) => patterns.some((pattern) => pattern.test(type)));
}

export function TestEvent({ subscription: { name, on }, about }: { subscription: Subscription; about: About }) {
  const called = useNames()(name);
  const { t, kind } = usePreferences();
  const types = typesFor(on, about).map((one) => [one, kind(one)] as const);
  const [type, setType] = useState('');
  const run = async (): Promise<ComponentChildren> => {
    // The dialog has said that a function runs.
    const body = { subscription: name, run: true, ...(type !== '' && { type }) };
    return <TestOutcome outcome={await act('test', body)} />;
  };
  return (
    <Action label={t('test.label')} title={t('test.title', { name: called })} sure={t('test.sure')} run={run}>
      <p>{t('test.what')}</p>
      <Choice label={t('test.type')} value={type} onChoose={setType} options={[['', t('test.first')], ...types]} />
    </Action>
  );
}

function TestOutcome({ outcome: { outcome, status, ms, type, place, body, problem } }: { outcome: Answered<'test'> }) {
  const { t, took } = usePreferences();
  const facts = [place, type, took(ms), ...(status === null ? [] : [`HTTP ${status}`])];
  return (
    <>
      <p>
        <span class={`mark ${outcome === 'accepted' ? 'good' : 'bad'}`}>{t(`test.${outcome}`)}</span>{' '}
        {facts.join(' · ')}
      </p>
      {problem !== null && <p class="message">{problem}</p>}
      {body !== '' && <pre tabIndex={0}>{body}</pre>}
    </>
  );
}
