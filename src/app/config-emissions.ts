/**
 * The events that detection can emit under a configuration: one sample event per workspace, list, verb and class. An event that the
 * configuration rules out carries the reason. Pure. It uses the rules of detection themselves, so that the two cannot disagree.
 */
import type { Config, ListConfig, WorkspaceConfig } from '../config/schema.js';
import { TODO_FIELDS } from '../detect/fields.js';
import { compileRules, type Rules } from '../detect/rules.js';
import { buildEvent } from '../events/envelope.js';
import type { ListName } from '../crm/lists/lists.js';
import type { ChangeClass, ChangeEvent, TodoVerb, Verb } from '../events/types.js';

/** Why events of this kind are never emitted, and what to change. */
export interface Obstacle {
  reason: string;
  remedy: string;
}

export interface Emission {
  event: ChangeEvent;
  /** Null: events of this kind can be emitted. */
  obstacle: Obstacle | null;
}

export interface EmissionOptions {
  /** Field patterns of a subscription: the only place where custom fields of a workspace are named. */
  fields: readonly string[];
  /** The subscription starts with a snapshot of each list. */
  snapshot: boolean;
}

/** Without the events of derive functions. */
export function emissionsOf({ workspaces }: Pick<Config, 'workspaces'>, options: EmissionOptions): Emission[] {
  return workspaces.flatMap((workspace) =>
    Object.values(workspace.lists).flatMap((list) => emissionsOfList(workspace, list, options)),
  );
}

interface Kind {
  verb: Verb | TodoVerb;
  class: ChangeClass;
  fields?: readonly string[];
  obstacle?: Obstacle | null;
}

function emissionsOfList(workspace: WorkspaceConfig, config: ListConfig, options: EmissionOptions): Emission[] {
  const list = config.descriptor.name;
  const disabled = config.enabled
    ? null
    : { reason: `the list "${list}" is disabled`, remedy: `set lists.${list}.enabled to true` };
  const kinds = [
    ...kindsOfRecord(config, options),
    ...(list === 'todo' ? kindsOfTodo(workspace, config, options) : []),
  ];
  return kinds.map(({ verb, class: changeClass, fields = [], obstacle = null }) => ({
    event: sample(workspace.name, config, { verb, class: changeClass, fields }),
    obstacle: disabled ?? obstacle,
  }));
}

function kindsOfRecord(config: ListConfig, { fields, snapshot }: EmissionOptions): Kind[] {
  const list = config.descriptor.name;
  const rules = compileRules(config.descriptor, config);
  const compared = candidates(config, fields).filter((field) => rules.compares(field));
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

/** The fields, by their names in TODO_FIELDS, whose change yields each verb. */
const SOURCE_FIELDS = {
  completed: ['done', 'doneAt'],
  reopened: ['done', 'doneAt'],
  rescheduled: ['due'],
  reassigned: ['owner'],
} as const satisfies Partial<Record<TodoVerb, readonly (keyof typeof TODO_FIELDS)[]>>;

function kindsOfTodo({ todos }: WorkspaceConfig, config: ListConfig, { fields }: EmissionOptions): Kind[] {
  const unwatched: Obstacle = { reason: 'todos.watch is false', remedy: 'set todos.watch to true' };
  const rules = compileRules('todo', config);
  const others = candidates(config, fields).filter((field) => isEdited(rules, field));
  const kinds = (Object.keys(SOURCE_FIELDS) as (keyof typeof SOURCE_FIELDS)[]).flatMap((verb): Kind[] => {
    const names = SOURCE_FIELDS[verb].flatMap((kind): readonly string[] => TODO_FIELDS[kind]);
    const compared = names.filter((name) => rules.compares(name));
    const kept = compared.filter((name) => rules.isSystemKept(name));
    // A new todo that is already done yields `completed`, whatever is compared.
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
  reason: 'the list "todo" is kept without images, so the previous person in charge is unknown',
  remedy: 'set lists.todo.images to true',
};

function isEdited(rules: Rules, field: string): boolean {
  return rules.compares(field) && !rules.isSystemKept(field);
}

/** Stands for the custom fields of a workspace, which the configuration does not name. */
const CUSTOM_FIELD = 'a custom field';

/** Names that stand for all fields a list may have: the known ones, and one for each configured pattern. */
function candidates({ descriptor, only = [], refreshed }: ListConfig, fields: readonly string[]): string[] {
  const named = [...fields, ...only, ...refreshed].map((pattern) => pattern.replaceAll(/\*+/g, 'x'));
  return [...named, ...descriptor.systemKept, CUSTOM_FIELD].map((field) => field.normalize('NFC'));
}

function sample(
  workspace: string,
  { descriptor: list }: ListConfig,
  { verb, class: changeClass, fields }: Kind,
): ChangeEvent {
  const at = '2026-01-01T00:00:00.000Z';
  const changes = (fields ?? []).map((field) => ({ field, before: null, after: null }));
  const draft = { workspace, list, verb, recordId: 'sample', time: at, contentDigest: '' };
  const data = { before: null, after: null, changes, sequence: 1, class: changeClass, detectedBy: 'content' } as const;
  return buildEvent({ ...draft, data: { ...data, observedAt: at, sweep: 'sample' } } as Parameters<
    typeof buildEvent
  >[0]);
}
