/** What a handler gets besides the event, without Redis: a log to read, `once` in memory, records that the test gives. */
import { builtInLists, type ListName } from '../crm/lists/lists.js';
import type { CrmRecord } from '../crm/record.js';
import { contextFor, Interrupt, type ContextOptions } from '../delivery/run/attempt.js';
import { defineHandler } from '../delivery/handlers/define.js';
import type { HandlerContext, Subscription } from '../delivery/handlers/handler.js';
import type { People } from '../delivery/handlers/people.js';
import { onAbort, systemClock } from '../kit/clock.js';
import type { Log } from '../kit/log.js';
import type { Language } from '../words/words.js';

/** A line that a handler has logged. */
export interface LogLine {
  /** How much it matters. */
  level: 'debug' | 'info' | 'warn' | 'error';
  /** The fixed text. */
  message: string;
  /** What stands beside it. */
  facts: Readonly<Record<string, unknown>>;
}

/** `done`: an earlier attempt ended. `started`: an earlier attempt began, and its end is not known. */
export type EffectState = 'done' | 'started';

/** What the context says; defaults are those of a first attempt. */
export interface FakeContextOptions {
  /** @defaultValue 1 */
  attempt?: number;
  /** @defaultValue 'test' */
  workspace?: string;
  /** What a program put with the workspace. @defaultValue nothing */
  data?: HandlerContext['workspace']['data'];
  /** @defaultValue 'test' */
  subscription?: string;
  /** The list that the event comes from. @defaultValue null */
  list?: ListName | null;
  /** @defaultValue 'en' */
  language?: Language;
  /** An IANA name. @defaultValue 'Asia/Seoul' */
  timeZone?: string;
  /** @defaultValue false */
  replay?: boolean;
  /** What `records.get` finds: records by the name of their list. @defaultValue none */
  records?: Readonly<Partial<Record<ListName, readonly CrmRecord[]>>>;
  /** Where people of the CRM are reached, by name or id. @defaultValue nobody */
  people?: People;
  /** Aborts when the process stops. @defaultValue it does not */
  signal?: AbortSignal;
  /** What earlier attempts did by `once`, by its key. @defaultValue nothing */
  effects?: Readonly<Record<string, EffectState>>;
}

/** The second argument of `handle`, with what the handler has done with it. */
export interface FakeContext extends HandlerContext {
  /** What the handler has logged, in order. */
  readonly lines: readonly LogLine[];
  /** What was done by `once`, by its key. */
  readonly effects: ReadonlyMap<string, EffectState>;
  /** Aborts the signal, as the subscription's timeout does. */
  abort(): void;
}

/** A context to call a handler with: `handler.handle(eventOf('crm.todo.completed'), fakeContext())`. */
export function fakeContext(options: FakeContextOptions = {}): FakeContext {
  const { subscription: name = 'test', workspace = 'test', list = null, replay = false } = options;
  const fake = fakeSurroundings(options);
  const subscription: Subscription = {
    ...defineHandler({ name, handle: () => undefined }),
    language: options.language,
  };
  const made = fake.optionsFor(subscription);
  const context = contextFor(made, { workspace, effectsOf: 'test', facts: {}, list, replay });
  const { lines, effects } = fake;
  return Object.assign(context, { lines, effects, abort: () => made.interrupt.abort('late') });
}

/** What attempts need of a process, in memory. */
export function fakeSurroundings({
  attempt = 1,
  language,
  timeZone,
  records = {},
  people = {},
  data = {},
  effects: given = {},
  signal,
}: FakeContextOptions) {
  const lines: LogLine[] = [];
  const effects = new Map<string, EffectState>(Object.entries(given));
  const record = (list: ListName, id: string): Promise<CrmRecord | null> => {
    const { name } = builtInLists.parse(list) ?? builtInLists.byObject(list) ?? { name: list };
    return Promise.resolve(records[name]?.find((one) => one.id === id) ?? null);
  };
  const surroundings = {
    language: language ?? 'en',
    timeZone: timeZone ?? 'Asia/Seoul',
    lists: builtInLists,
    links: new Map<string, string>(),
    people,
    data,
    comparisonOf: () => undefined,
    pageOf: () => null,
    mutes: { isMuted: () => Promise.resolve(false), all: () => Promise.resolve([]) },
    record,
  };
  const once: ContextOptions['once'] = {
    begin({ key }) {
      const found = effects.get(key);
      if (found === undefined) effects.set(key, 'started');
      return Promise.resolve(found ?? 'begun');
    },
    finish: ({ key }) => Promise.resolve(void effects.set(key, 'done')),
    forget: ({ key }) => Promise.resolve(void effects.delete(key)),
  };
  const logger = recordingLog(lines);
  const optionsFor = (subscription: Subscription): ContextOptions => {
    const interrupt = new Interrupt();
    if (signal !== undefined) onAbort(signal, () => interrupt.abort('stopping'));
    const parts = { subscription, attempt, interrupt, clock: systemClock, logger, once };
    return { ...parts, surroundingsOf: () => surroundings };
  };
  return { lines, effects, optionsFor };
}

function recordingLog(lines: LogLine[], common: object = {}): Log {
  const at = (level: LogLine['level']) => (facts: object, message: string) =>
    void lines.push({ level, message, facts: { ...common, ...facts } });
  return {
    ...{ debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') },
    child: (facts) => recordingLog(lines, { ...common, ...facts }),
  };
}
