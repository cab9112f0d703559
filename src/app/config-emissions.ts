/**
 * Which events a configuration lets detection emit: one sample event per workspace, list, verb and class, with the reason
 * where the configuration rules it out. Pure. Built on the rules of detection themselves, so that the two cannot disagree.
 */
import type { Config, ListConfig, WorkspaceConfig } from '../config/schema.js';
import { TODO_FIELDS, systemKeptFields } from '../detect/fields.js';
import { compileRules, type Rules } from '../detect/rules.js';
import { buildEvent } from '../events/envelope.js';
import { LIST_NAMES, type ListName } from '../events/lists.js';
import type { ChangeClass, ChangeEvent, TodoVerb, Verb } from '../events/types.js';

/** Why an event of this kind is never emitted, and what to change. */
export interface Obstacle {
  reason: string;
  remedy: string;
}

export interface Emission {
  event: ChangeEvent;
  /** Null: it can be emitted. */
  obstacle: Obstacle | null;
}

export interface EmissionOptions {
  /** Field patterns that somebody asks for: fields of a workspace's own are known by these alone. */
  fields: readonly string[];
  /** The subscription is sent a snapshot of each list. */
  snapshot: boolean;
}

/** What detection emits; derive functions are not among it. */
export function emissionsOf({ workspaces }: Pick<Config, 'workspaces'>, options: EmissionOptions): Emission[] {
  return workspaces.flatMap((workspace) => LIST_NAMES.flatMap((list) => emissionsOfList(workspace, list, options)));
}

interface Kind {
  verb: Verb | TodoVerb;
  class: ChangeClass;
  fields?: readonly string[];
  obstacle?: Obstacle | null;
}

function emissionsOfList(workspace: WorkspaceConfig, list: ListName, options: EmissionOptions): Emission[] {
  const config = workspace.lists[list];
  const disabled = config.enabled
    ? null
    : { reason: `the list "${list}" is disabled`, remedy: `set lists.${list}.enabled to true` };
  const kinds = [
    ...kindsOfRecord(list, config, options),
    ...(list === 'todo' ? kindsOfTodo(workspace, config, options) : []),
  ];
  return kinds.map(({ verb, class: changeClass, fields = [], obstacle = null }) => ({
    event: sample(workspace.name, list, { verb, class: changeClass, fields }),
    obstacle: disabled ?? obstacle,
  }));
}

function kindsOfRecord(list: ListName, config: ListConfig, { fields, snapshot }: EmissionOptions): Kind[] {
  const rules = compileRules(list, config);
  const compared = candidates(list, config, fields).filter((field) => rules.compares(field));
  const kept = compared.filter((field) => rules.isSystemKept(field));
  const snapshots = config.baseline === 'emit' || (snapshot && config.images);
  return [
    { verb: 'created', class: 'edited' },
    { verb: 'deleted', class: 'edited' },
    {
      verb: 'updated',
      class: 'edited',
      fields: compared,
      obstacle: kept.length < compared.length ? null : onlyKept(list),
    },
    {
      verb: 'updated',
      class: 'refreshed',
      fields: kept,
      obstacle: kept.length > 0 || rules.touch ? null : noneKept(list),
    },
    { verb: 'snapshot', class: 'edited', obstacle: snapshots ? null : noSnapshot(list) },
    { verb: 'schema_changed', class: 'refreshed', obstacle: rules.collapse ? null : noSchema(list) },
  ];
}

const onlyKept = (list: ListName): Obstacle => ({
  reason: `the rules of the list "${list}" compare no field that a person edits`,
  remedy: `change lists.${list}.only, ignore or refreshed`,
});
const noneKept = (list: ListName): Obstacle => ({
  reason: `no compared field of the list "${list}" counts as kept by the system`,
  remedy: `name such fields in lists.${list}.refreshed, or leave out class: 'refreshed'`,
});
const noSnapshot = (list: ListName): Obstacle => ({
  reason: `the baseline of the list "${list}" emits no snapshot`,
  remedy: `give the subscription start: 'snapshot', or set lists.${list}.baseline to 'emit'`,
});
const noSchema = (list: ListName): Obstacle => ({
  reason: `lists.${list}.collapse is false`,
  remedy: `set lists.${list}.collapse to true`,
});

/** The fields whose change each verb follows from, as TODO_FIELDS names them. */
const FOLLOWS_FROM = {
  completed: ['done', 'doneAt'],
  reopened: ['done', 'doneAt'],
  rescheduled: ['due'],
  reassigned: ['owner'],
} as const satisfies Partial<Record<TodoVerb, readonly (keyof typeof TODO_FIELDS)[]>>;

function kindsOfTodo({ todos }: WorkspaceConfig, config: ListConfig, { fields }: EmissionOptions): Kind[] {
  const unwatched: Obstacle = { reason: 'todos.watch is false', remedy: 'set todos.watch to true' };
  const rules = compileRules('todo', config);
  const others = candidates('todo', config, fields).filter((field) => isEdited(rules, field));
  const kinds = (Object.keys(FOLLOWS_FROM) as (keyof typeof FOLLOWS_FROM)[]).flatMap((verb): Kind[] => {
    const names = FOLLOWS_FROM[verb].flatMap((kind): readonly string[] => TODO_FIELDS[kind]);
    const compared = names.filter((name) => rules.compares(name));
    const kept = compared.filter((name) => rules.isSystemKept(name));
    // A todo that is new and done already is completed, whatever is compared.
    const edited = verb === 'completed' || (compared.length > 0 && kept.length < compared.length + others.length);
    const imageless = verb === 'reassigned' && !config.images ? WITHOUT_IMAGES : null;
    const muted: Obstacle = {
      reason: `the list "todo" does not compare ${names.join(', ')}`,
      remedy: 'change lists.todo.only or lists.todo.ignore',
    };
    return [
      { verb, class: 'edited', obstacle: imageless ?? (edited ? null : muted) },
      {
        verb,
        class: 'refreshed',
        obstacle: imageless ?? (compared.length === 0 ? muted : kept.length > 0 ? null : noneKept('todo')),
      },
    ];
  });
  const byClock = (['due_soon', 'overdue'] as const).map((verb): Kind => ({ verb, class: 'edited' }));
  return [...kinds, ...byClock].map((kind) => ({
    ...kind,
    obstacle: todos.watch ? (kind.obstacle ?? null) : unwatched,
  }));
}

const WITHOUT_IMAGES: Obstacle = {
  reason: 'the list "todo" is kept without images, so nobody knows who was in charge before',
  remedy: 'set lists.todo.images to true',
};

function isEdited(rules: Rules, field: string): boolean {
  return rules.compares(field) && !rules.isSystemKept(field);
}

/** Stands for the fields of a workspace's own, which no configuration names. */
const ANY_OTHER = 'a field of its own';

/** Names that stand for all fields a list may have: those known, and one for each pattern that somebody wrote. */
function candidates(list: ListName, { only = [], refreshed }: ListConfig, fields: readonly string[]): string[] {
  const named = [...fields, ...only, ...refreshed].map((pattern) => pattern.replaceAll(/\*+/g, 'x'));
  return [...named, ...systemKeptFields(list), ANY_OTHER].map((field) => field.normalize('NFC'));
}

function sample(workspace: string, list: ListName, { verb, class: changeClass, fields }: Kind): ChangeEvent {
  const at = '2026-01-01T00:00:00.000Z';
  const changes = (fields ?? []).map((field) => ({ field, before: null, after: null }));
  const draft = { workspace, list, verb, recordId: 'sample', time: at, contentDigest: '' };
  const data = { before: null, after: null, changes, sequence: 1, class: changeClass, detectedBy: 'content' } as const;
  return buildEvent({ ...draft, data: { ...data, observedAt: at, sweep: 'sample' } } as Parameters<
    typeof buildEvent
  >[0]);
}
