/** Which events and fields a pattern selects. Pure. `*` is the only wildcard: any number of characters, also none. */
import { isRelabelled, type FieldChange } from '../crm/canonical.js';
import type { ListName, Lists } from '../crm/lists/lists.js';
import { isBy, type ActorRule } from './actor.js';
import { listOf, workspaceOf } from './envelope.js';
import type { ChangeClass, ChangeEvent } from './types.js';
import { stretchKey, stretchOf, type Stretch } from './unchanged.js';

/** No regular expression: with two `*` one takes quadratic time on a long text, and the process stands still. */
export function compilePattern(pattern: string): (text: string) => boolean {
  const [prefix = '', ...rest] = pattern.split('*');
  const suffix = rest.pop();
  if (suffix === undefined) return (text) => text === pattern;
  const between = rest.filter((part) => part !== '');
  return (text) => {
    const end = text.length - suffix.length;
    if (end < prefix.length || !text.startsWith(prefix) || !text.endsWith(suffix)) return false;
    // The first place of each part leaves the most room for the parts behind it, so no other place has to be tried.
    let from = prefix.length;
    for (const part of between) {
      const at = text.indexOf(part, from);
      if (at < 0) return false;
      from = at + part.length;
    }
    return from <= end;
  };
}

/**
 * Ends of types that only a pattern with the same end selects: events about a list and not about a record, whose `before` and `after` are null; and
 * what has not happened, which only those get who ask for it.
 */
const NAMED_ENDS = ['.schema_changed', '.unchanged'];
const OF_THE_FEED = 'changefeed.';

/** Other events need a pattern that names them: a handler of `crm.person.*` expects a person in each. */
export function compileTypePattern(pattern: string): (type: string) => boolean {
  const matches = compilePattern(pattern);
  const ofFeed = pattern.startsWith(OF_THE_FEED);
  const unnamed = NAMED_ENDS.filter((end) => !pattern.endsWith(end));
  return (type) =>
    matches(type) && (ofFeed || !type.startsWith(OF_THE_FEED)) && !unnamed.some((end) => type.endsWith(end));
}

/** Which events a subscription selects. An option that is left out selects everything. */
export interface Selection {
  /** Event types; `*` matches any characters. */
  readonly on: readonly string[];
  readonly workspaces?: readonly string[] | undefined;
  readonly lists?: readonly ListName[] | undefined;
  /** The lists of the configuration, which relate names to event types. @defaultValue the built-in lists */
  readonly catalogue?: Lists | undefined;
  readonly class?: ChangeClass | undefined;
  /** Patterns (`*` allowed): an update must have changed such a field. Created and deleted are always selected. */
  readonly fields?: readonly string[] | undefined;
  /** Who must have made the change. Snapshots are always selected: they are no one's change. */
  readonly from?: readonly ActorRule[] | undefined;
  /** Who must not have made it. */
  readonly notFrom?: readonly ActorRule[] | undefined;
  /** What has not happened for a time: of events of this kind, only those that say so. */
  readonly unchanged?: Stretch | undefined;
  /** Evaluated for events that everything else selects. */
  readonly where?: Where | undefined;
  /** What a program put with a workspace. @defaultValue nothing */
  readonly dataOf?: ((workspace: string) => WorkspaceOfEvent['data']) | undefined;
}

/** The workspace of an event. */
export interface WorkspaceOfEvent {
  readonly name: string;
  /** What your program put with it: the option `data` of the workspace. */
  readonly data: Readonly<Record<string, unknown>>;
}

/** The workspace for `where`. Its data is looked up where it is asked for. */
export function workspaceOfEvent(event: ChangeEvent, { dataOf }: Pick<Selection, 'dataOf'>): WorkspaceOfEvent {
  const name = workspaceOf(event);
  return {
    name,
    get data() {
      return dataOf?.(name) ?? {};
    },
  };
}

type EventTest = (event: ChangeEvent) => boolean;

export type Where = ((event: ChangeEvent, workspace: WorkspaceOfEvent) => boolean) & {
  /** The first of its conditions that does not hold. */
  readonly failing?: (event: ChangeEvent, workspace: WorkspaceOfEvent) => FailingCondition | undefined;
  readonly asks?: readonly Asked[];
};

/** What a condition asks for and what the event has instead, both as JSON that is cut where it is long. */
export interface FailingCondition {
  readonly condition: string;
  readonly wanted: string;
  readonly found: string;
}

/** The option that leaves an event out; the rest is null unless it is a condition given as data. */
export type RefusedBy = { readonly option: SelectingOption } & {
  readonly [Name in keyof FailingCondition]: string | null;
};

/** A demand of a condition on a field of the record, from which it may follow that it never holds. */
export interface Asked {
  /** Under NFC; a name may lead into a reference. */
  readonly field: string;
  /** How the value is compared. `any`: every value may do. */
  readonly by: 'any' | 'equal' | 'part' | 'order' | 'time';
  readonly values: readonly (string | number | boolean | null)[];
}

/** The options that may leave an event out, in the order in which they are asked. */
export type SelectingOption =
  'on' | 'unchanged' | 'workspaces' | 'lists' | 'class' | 'fields' | 'from' | 'notFrom' | 'where';
type Tests = readonly (readonly [option: SelectingOption, selects: EventTest])[];

/** An event for which `where` throws is selected: it runs again before the handler, where a failure is retried. */
export function compileSelection(selection: Selection): EventTest {
  const tests = testsOf(selection).map(([, selects]) => selects);
  return (event) => tests.every((selects) => selects(event));
}

const NO_CONDITION = { condition: null, wanted: null, found: null };

/** Says which option is the first that leaves an event out, and which condition of `where`; null: the event is selected. */
export function explainSelection(selection: Selection): (event: ChangeEvent) => RefusedBy | null {
  const tests = testsOf(selection);
  return (event) => {
    const [option] = tests.find(([, selects]) => !selects(event)) ?? [];
    if (option === undefined) return null;
    if (option !== 'where') return { option, ...NO_CONDITION };
    return { option, ...(selection.where?.failing?.(event, workspaceOfEvent(event, selection)) ?? NO_CONDITION) };
  };
}

export function compileTypes({ on }: { on: readonly string[] }): (type: string) => boolean {
  const types = on.map((pattern) => compileTypePattern(composed(pattern)));
  return (type) => types.some((selects) => selects(type));
}

function testsOf(selection: Selection): Tests {
  const { workspaces, lists, catalogue, class: wanted, fields, from, notFrom, unchanged, where } = selection;
  const selectsType = compileTypes(selection);
  const tests: [SelectingOption, EventTest][] = [['on', ({ type }) => selectsType(type)]];
  const stretch = unchanged && stretchKey(unchanged);
  tests.push([
    'unchanged',
    ({ data }) => data.unchanged === undefined || stretchKey(stretchOf(data.unchanged)) === stretch,
  ]);
  if (workspaces !== undefined) tests.push(['workspaces', (event) => workspaces.includes(workspaceOf(event))]);
  if (lists !== undefined) tests.push(['lists', (event) => lists.some((list) => list === listOf(event, catalogue))]);
  if (wanted !== undefined) tests.push(['class', (event) => event.data.class === wanted]);
  if (fields !== undefined) {
    const wantedFields = fields.map((pattern) => compilePattern(composed(pattern)));
    const isWanted = (change: FieldChange): boolean =>
      wantedFields.some((matches) => matches(composed(change.field))) && !(wanted === 'edited' && isRelabelled(change));
    tests.push(['fields', ({ type, data }) => !type.endsWith('.updated') || data.changes.some(isWanted)]);
  }
  if (from !== undefined) tests.push(['from', (event) => event.type.endsWith('.snapshot') || isBy(from, event)]);
  if (notFrom !== undefined) tests.push(['notFrom', (event) => !isBy(notFrom, event)]);
  if (where !== undefined) {
    tests.push([
      'where',
      (event) => {
        try {
          return where(event, workspaceOfEvent(event, selection));
        } catch {
          return true;
        }
      },
    ]);
  }
  return tests;
}

/** False when the subscription selects no event of that workspace, so that its log need not be read. */
export function readsWorkspace({ on, workspaces }: Selection, workspace: string): boolean {
  return on.length > 0 && (workspaces === undefined || workspaces.includes(workspace));
}

/** A Korean field name can be composed differently than in the API's answer, although both look the same. */
function composed(text: string): string {
  return text.normalize('NFC');
}
