/** The options of a workspace and of its lists: in the configuration (schema.ts), and of one that comes at run time (workspace.ts). */
import { z } from 'zod';
import { DEFAULT_CREATIONS } from '../feed/detect/creation.js';
import { MASKS } from '../feed/detect/masks.js';
import { namedFields, referenceIn } from '../feed/detect/named-fields.js';
import { DEFAULT_REMOVALS } from '../feed/detect/removal.js';
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import { builtInLists, withBuiltIn, type BuiltInList, type ReadyMadeList } from '../crm/lists/lists.js';
import { baseUrl } from '../kit/schema/addresses.js';
import { secret } from '../kit/schema/secret.js';
import {
  DEFAULT_TIME_ZONE,
  duration,
  listOf,
  name,
  oneOf,
  share,
  strictOptions,
  text,
  time,
  timeZone,
  wholeNumber,
  yesOrNo,
} from '../kit/schema/fields.js';
import { A_LIST } from '../crm/lists/list-name.js';
import { LANGUAGES } from '../words/words.js';
import { descriptorOptions, masksOfNeeded, readList, splitListOptions, type DescriptorOptions } from './lists.js';
import { fetchPage, token, withSource } from './source.js';

/** A share of the 100 requests in 10 s that the API is known to allow; the rest is left to the customer's other integrations. */
export const DEFAULT_BUDGET = { requests: 80, perSeconds: 10 };

// An age is compared, not waited for; the upper bound of ten years only catches typing errors.
export const LONGEST_AGE = '3650d';
export const MOST_RECORDS = 1_000_000_000;

const budgetOptions = strictOptions({
  /** Requests in any window of `perSeconds`. The API is known to allow 100 in 10 s to all integrations together. @defaultValue 80 */
  requests: wholeNumber(1, 100_000).default(DEFAULT_BUDGET.requests),
  /** Length of the window, in seconds. @defaultValue 10 */
  perSeconds: wholeNumber(1, 3_600).default(DEFAULT_BUDGET.perSeconds),
});

const todosOptions = strictOptions({
  /** False: no `crm.todo.completed`, `crm.todo.overdue` and other events of the monitor. @defaultValue true */
  watch: yesOrNo.default(true),
  /** A todo is due soon when it is due within this time. @defaultValue '24h' */
  dueSoon: duration({ from: '1m', to: LONGEST_AGE }).prefault('24h'),
});

const removalOptions = strictOptions({
  /** Number of complete sweeps in a row that must miss the record. @defaultValue 2 */
  confirm: wholeNumber(1, 100).default(DEFAULT_REMOVALS.confirm),
  /** The least time from the end of the first of these sweeps to the end of the last. @defaultValue '30s' */
  after: duration({ from: '0s', to: LONGEST_AGE }).prefault('30s'),
  /** Removals wait for a decision when more than this share of the list is missing … @defaultValue 0.2 */
  maxShare: share.default(DEFAULT_REMOVALS.maxShare),
  /** … and more than this many records. @defaultValue 10 */
  maxCount: wholeNumber(0, MOST_RECORDS).default(DEFAULT_REMOVALS.maxCount),
});

const creationOptions = strictOptions({
  /** New records wait for a decision when they are more than this share of the records seen (1: never) … @defaultValue 0.5 */
  maxShare: share.default(DEFAULT_CREATIONS.maxShare),
  /**
   * … and more than this many; in `history` and `activity`, only when known rows are missing as well. When hardly any known
   * record is seen again, they wait whatever their number. @defaultValue 100
   */
  maxCount: wholeNumber(0, MOST_RECORDS).default(DEFAULT_CREATIONS.maxCount),
});

const fieldPattern = text('a field name, or a pattern with *');
const FIELD_PATTERNS = 'field names or patterns with *';
const A_MASK = MASKS.map((mask) => `'${mask}'`).join(', ');
const A_MASK_OF = `an object whose keys are ${FIELD_PATTERNS} and whose values are ${A_MASK}`;
const fieldPatterns = z.array(fieldPattern, { error: `an array of ${FIELD_PATTERNS}` }).readonly();

const listOptions = strictOptions(
  {
    /** False: the list is not swept. @defaultValue true */
    enabled: yesOrNo.default(true),
    /**
     * At least this time from the start of one sweep to the start of the next: fewer requests. @defaultValue as often as the budget allows,
     * see operations.md
     */
    interval: duration({ from: '1s', to: LONGEST_AGE }).optional(),
    /** Field patterns (`*` allowed): a change of these fields alone makes no event. @defaultValue none */
    ignore: fieldPatterns.default([]),
    /** Field patterns: only changes of these fields make an event. @defaultValue all fields */
    only: listOf(fieldPattern, FIELD_PATTERNS).optional(),
    /** Field patterns that count as kept by the system, in addition to the known ones. @defaultValue none */
    refreshed: fieldPatterns.default([]),
    /**
     * What the first complete sweep does: store the records without events, emit a `snapshot` event per record, or emit
     * `created` and `updated` for records newer than a time (without a zone, of `timeZone`). @defaultValue 'quiet'
     */
    baseline: z
      .union([z.literal(['quiet', 'emit']), strictOptions({ since: time }).readonly()], {
        error: `'quiet', 'emit' or { since: a time such as 2026-03-01T00:00:00Z }`,
      })
      .default('quiet'),
    /**
     * Fields (patterns allowed; the first that matches counts) that are kept in another form: `last4` (the last four characters), `hash`, or
     * `drop` (not at all). `'*'` is every field without another entry, but for the id and the times. Before anything is stored or delivered;
     * changes are still found, see personal-data.md. @defaultValue none
     */
    mask: z.record(fieldPattern, z.enum(MASKS, { error: A_MASK }), { error: A_MASK_OF }).default({}),
    /** When a record that is no longer shown counts as removed. */
    removals: removalOptions.prefault({}),
    /** When there are too many new records at once to report them without a decision. */
    creations: creationOptions.prefault({}),
    /** Null, absent and an empty list mean the same. @defaultValue true */
    nullIsAbsent: yesOrNo.default(true),
    /** A record whose timestamp changes while its content stays makes an `updated` event without changes. @defaultValue false */
    touch: yesOrNo.default(false),
    /** A key that appears, vanishes or changes its value type on nearly all rows is one schema event. @defaultValue true */
    collapse: yesOrNo.default(true),
    ...descriptorOptions,
  },
  { orAlone: 'true or false' },
);

/** `deal: true` is short for `deal: { enabled: true }`. */
const listEntry = z.preprocess(
  (given: boolean | ListInput) => (typeof given === 'boolean' ? { enabled: given } : given),
  listOptions,
);

/** Built-in and ready-made lists by name, which the editor completes; others by their path, or with a `path` in their options. */
type ListsInput = { readonly [List in BuiltInList | ReadyMadeList]?: ListEntry | undefined } & Readonly<
  Record<string, ListEntry | undefined>
>;
type ListEntry = ListInput | boolean;

function readLists(
  given: Readonly<Record<string, z.output<typeof listOptions>>>,
  refuse: (message: string, path: readonly string[]) => void = () => undefined,
): ListConfigs {
  const named = new Map<string, ListConfig>();
  for (const [key, options] of Object.entries(given)) {
    const { description, rest } = splitListOptions(options);
    const taken = withBuiltIn([...named.values()].map(({ descriptor }) => descriptor));
    const list = readList(key, description, taken, (problem, ...option) => {
      refuse(problem, [key, ...option]);
      return null;
    });
    if (list === null) continue;
    for (const { option, pattern } of namedFields(rest)) {
      const field = referenceIn(pattern, list.name);
      if (field !== null)
        refuse(`"${pattern}" leads into a field, and options name whole fields: write "${field}"`, [key, option]);
    }
    for (const [pattern, field] of masksOfNeeded(rest.mask, list))
      refuse(`"${field}" cannot be masked: the list is read by it`, [key, 'mask', pattern]);
    if (named.has(list.name)) refuse(`the list "${list.name}" is named twice; keep one of them`, [key]);
    else named.set(list.name, listConfig(list, rest));
  }
  return withEveryBuiltIn(named);
}

const readableLists = z.check<Parameters<typeof readLists>[0]>(({ value, issues }) => {
  const entries = Object.entries(value as Readonly<Record<string, unknown>>);
  // What is wrong with one of these options was said where it is read.
  const objects = entries.filter(([, options]) => z.object(descriptorOptions).safeParse(options).success);
  readLists(Object.fromEntries(objects) as typeof value, (message, path) =>
    issues.push({ code: 'custom', input: value, path: [...path], message, params: { whole: true } }),
  );
});
// Also where an option of a list is wrong: a person corrects all problems at once.
readableLists._zod.def.when = ({ value }) => typeof value === 'object' && value !== null;

/** Every list is present in the result. */
const lists: z.ZodType<ListConfigs, ListsInput> = z
  .record(z.string(), listEntry, { error: `an object whose keys are ${A_LIST}` })
  .check(readableLists)
  .transform((given) => readLists(given));

type CommonListOptions = Omit<z.output<typeof listOptions>, keyof DescriptorOptions>;

function listConfig(descriptor: ListDescriptor, { interval, ...options }: CommonListOptions): ListConfig {
  return { descriptor, ...options, intervalMs: interval ?? null };
}

function withEveryBuiltIn(named: ReadonlyMap<string, ListConfig>): ListConfigs {
  const builtIn = builtInLists.all.map((list) => named.get(list.name) ?? listConfig(list, listOptions.parse({})));
  const all = [...builtIn, ...[...named.values()].filter((one) => !builtIn.includes(one))];
  return Object.fromEntries(all.map((one) => [one.descriptor.name, one])) as ListConfigs;
}

const historyOptions = strictOptions(
  {
    /** Older changes are deleted. @defaultValue '90d' */
    keep: duration({ from: '1d', to: LONGEST_AGE }).prefault('90d'),
    /** Only this many of each list's newest changes are kept. @defaultValue 200000 */
    changes: wholeNumber(1, MOST_RECORDS).default(200_000),
  },
  { orAlone: 'false' },
);

const history = z.preprocess(
  (given: false | z.input<typeof historyOptions>) => (given === false ? null : given),
  historyOptions.transform(({ keep, changes }) => ({ keepMs: keep, changes })).nullable(),
);

const A_LINK = 'an address that begins with https:// or http:// and has {id} in it';
const link = z.string({ error: A_LINK }).refine(isLink, { error: A_LINK });

const MOST_DATA = 4_096;
const SOME_DATA = 'an object of at most 4 kB as JSON';
const workspaceData = secret(
  z
    .record(z.string(), z.json(), { error: SOME_DATA })
    .refine((data) => JSON.stringify(data).length <= MOST_DATA, { error: SOME_DATA }),
);

const workspaceOptions = strictOptions({
  /** Unique; part of event sources and Redis keys. Letters, digits, `-`, `_`, `.`; at most 64. */
  name,
  /** The part of the API's address before `/v2`: `https://crm.example/api`. With `fetchPage`, a name of the source. @defaultValue required without `fetchPage` */
  baseUrl: baseUrl.optional(),
  /**
   * The API token, without "Bearer"; in code also a function that gives it, which is asked again when the API refuses it (lists.md).
   * @defaultValue required without `fetchPage`
   */
  token: token.optional(),
  /** In code: gives a page of a list in place of our HTTP, for a CRM that pages in another way (lists.md). @defaultValue our own requests */
  fetchPage: fetchPage.optional(),
  /**
   * What your program knows of the customer, at most 4 kB as JSON: handlers find it as `context.workspace.data`, conditions as `workspace.data.<name>`,
   * and addresses of built-in handlers as `{{workspace.data.<name>}}`. @defaultValue none
   */
  data: workspaceData.default({}),
  /** The part of the API's rate limit that Changefeed uses: `requests` in any `perSeconds`, all processes together. */
  budget: budgetOptions.prefault({}),
  /** The workspace's time zone, an IANA name. It decides when a day begins, also of dates without a zone that you write. @defaultValue 'Asia/Seoul' */
  timeZone: timeZone.default(DEFAULT_TIME_ZONE),
  /** The language of what people read: messages, digests, reports. A subscription may have another one. @defaultValue 'en' */
  language: oneOf(...LANGUAGES).default('en'),
  /**
   * Where a person sees a record, by object or list name, with `{id}` in place of its id: `{ person: 'https://crm.example/people/{id}' }`. Events
   * then have `data.link`, messages and the page a link. @defaultValue none
   */
  links: z
    .record(z.string(), link, { error: 'an object whose keys are objects or lists and whose values are addresses' })
    .readonly()
    .default({}),
  /**
   * How long the changes of each record are kept, apart from the log, see history.md. False: no history is kept, and what is stored of it
   * is removed. @defaultValue 90 days, 200,000 changes of each list
   */
  history: history.prefault({}),
  /** The todo monitor: events derived from changes of todos and from their due dates. */
  todos: todosOptions.prefault({}),
  /**
   * Options per list, by name (`people` `organization` `memo` `todo` `history` `activity`) or path (`people/activity`). Of the ready-made lists
   * (`people_history` `organization_history` `lead_history` `deal` `lead`), `true` switches one on, or an entry with its options. An entry
   * with a `path` adds a list of your own: see lists.md.
   */
  lists: lists.prefault({}),
});

/** With what depends on several options. */
export const workspace = workspaceOptions.check(withSource);

function isLink(text: string): boolean {
  return text.includes('{id}') && /^https?:\/\//.test(text) && URL.canParse(text.replaceAll('{id}', 'x'));
}

export type ListInput = z.input<typeof listOptions>;

/** A list's options, checked and with their defaults. */
export type ListConfig = Readonly<Omit<CommonListOptions, 'interval'>> & {
  /** What the list is. */
  readonly descriptor: ListDescriptor;
  /** The shortest time from the start of one sweep to the start of the next; null: as often as the budget allows. */
  readonly intervalMs: number | null;
};

/** The lists by name, the built-in ones first. */
export type ListConfigs = Readonly<Record<BuiltInList, ListConfig>> & Readonly<Record<string, ListConfig>>;

/** A workspace, checked and with its defaults. `lists` has every list, the disabled ones included. */
export type WorkspaceConfig = z.output<typeof workspaceOptions>;

/** A workspace that comes at run time, as a program puts it. */
export interface WorkspaceInput extends Omit<
  z.input<typeof workspaceOptions>,
  'name' | 'baseUrl' | 'token' | 'fetchPage'
> {
  baseUrl: string;
  /** A text: a function cannot be kept. @defaultValue the token that it has had */
  token?: string | undefined;
}
