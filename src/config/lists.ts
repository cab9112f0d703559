/** The lists of a configuration. Each becomes a descriptor: nothing then distinguishes it from a built-in one. */
import { compileMasks, type Masks } from '../feed/detect/masks.js';
import { z } from 'zod';
import { USUAL, type ListDescriptor } from '../crm/lists/descriptor.js';
import { builtInLists, createLists, LIST_NAMES, listsFrom, readyMadeLists, type Lists } from '../crm/lists/lists.js';
import { listOf, matching, oneOf, text, yesOrNo } from '../kit/schema/fields.js';
import { A_LIST, meantList } from '../crm/lists/list-name.js';
import type { ConfigProblem } from '../kit/schema/problem.js';

const A_PATH =
  "what stands behind /v2/: words of letters, digits, '-', '_', '.' and '~', separated by '/', such as 'deal' or 'custom-object/invoice'";
const AN_OBJECT = "one word for event types: lower-case letters, digits and '_', beginning with a letter, at most 40";
const A_NAME = "letters, digits, '-' and '_', beginning with a letter, at most 40";
const A_KEY = "the name of the array in the answer's data, such as 'dealList'";
const SPELLINGS = 'an object whose keys are other spellings and whose values are the field names they stand for';

const PATH = /^\/?(v2\/)?(?!\.{1,2}(\/|$))[\w.~-]+(\/(?!\.{1,2}(\/|$))[\w.~-]+)*$/;
const NAME = /^[A-Za-z][\w-]{0,39}$/;
const OBJECT = /^[a-z][a-z0-9_]{0,39}$/;

const fieldNames = listOf(text('the name of a field'), 'field names');

export const descriptorOptions = {
  /** Only for a list that is not built in: its path behind `/v2/`, such as `deal`. @defaultValue none */
  path: matching(PATH, A_PATH).optional(),
  /** For such a list: the key of its array in `data`. @defaultValue the only array in `data` */
  key: text(A_KEY).optional(),
  /** For such a list: what a record is called in event types, `crm.<object>.created`. @defaultValue the list's name */
  object: matching(OBJECT, AN_OBJECT).optional(),
  /** For such a list: the name of the list once more, as `defineList` gives it. @defaultValue the key under `lists` */
  name: z.string({ error: A_NAME }).optional(),
  /** For such a list: `optional` when rows may have no `id`; such a row is identified by its content. @defaultValue 'required' */
  ids: oneOf('required', 'optional').optional(),
  /** For such a list: records can be merged, and `deleted` names the record they went into. @defaultValue false */
  merged: yesOrNo.optional(),
  /** For such a list: rows are only ever added, as in `history`. @defaultValue false */
  growsOnly: yesOrNo.optional(),
  /** For such a list: fields with the time of the last change. @defaultValue `['수정 날짜', 'updatedAt']` */
  modifiedAt: fieldNames.optional(),
  /** For such a list: fields with the time of creation. @defaultValue `['생성 날짜', 'createdAt', 'date']` */
  createdAt: fieldNames.optional(),
  /** For such a list: fields with two spellings, other spelling → field name. @defaultValue none */
  spellings: z.record(z.string(), z.string({ error: SPELLINGS }), { error: SPELLINGS }).optional(),
};

export type DescriptorOptions = z.output<z.ZodObject<typeof descriptorOptions>>;

const EVERY_LIST = createLists(readyMadeLists.all);
const READY_MADE_NAMES = readyMadeLists.all.map(({ name }) => name).join(', ');
const OWN_OPTIONS = Object.keys(descriptorOptions) as (keyof DescriptorOptions)[];

export function splitListOptions<Options extends DescriptorOptions>(
  options: Options,
): { description: DescriptorOptions; rest: Omit<Options, keyof DescriptorOptions> } {
  const entries = Object.entries(options).filter(([, value]) => value !== undefined);
  const isOwn = ([option]: [string, unknown]): boolean => (OWN_OPTIONS as string[]).includes(option);
  return {
    description: Object.fromEntries(entries.filter(isOwn)),
    rest: Object.fromEntries(entries.filter((entry) => !isOwn(entry))) as Omit<Options, keyof DescriptorOptions>,
  };
}

/** Says what is wrong with one entry under `lists`, at an option of it or as a whole; there is no list then. */
export type RefuseEntry = (problem: string, ...option: (keyof DescriptorOptions)[]) => null;

/** Null if it is refused. `taken`: the lists of the workspace so far. */
export function readList(
  key: string,
  options: DescriptorOptions,
  taken: Lists,
  refuse: RefuseEntry,
): ListDescriptor | null {
  const builtIn = builtInLists.parse(key);
  if (builtIn !== undefined) {
    const [option] = OWN_OPTIONS.filter((one) => options[one] !== undefined);
    if (option === undefined) return builtIn;
    return refuse(`the list "${builtIn.name}" is built in; leave this out, or give your own list another name`, option);
  }
  const list = options.path === undefined ? readyMade(key, options, refuse) : ownList(key, options, refuse);
  return list !== null && isFree(list, options, taken, refuse) ? list : null;
}

/** `lists: { deal: true }` */
function readyMade(key: string, options: DescriptorOptions, refuse: RefuseEntry): ListDescriptor | null {
  const list = readyMadeLists.parse(key);
  if (list === undefined)
    return refuse(
      `there is no such list${meantList(key, EVERY_LIST)}; allowed: ${A_LIST}; one of the ready-made ${READY_MADE_NAMES}; or any name with a \`path\`, which adds a list`,
    );
  const [option] = OWN_OPTIONS.filter((one) => options[one] !== undefined);
  if (option === undefined) return list;
  return refuse(`the list "${list.name}" is ready-made; leave this out, or describe your own with a \`path\``, option);
}

function ownList(key: string, options: DescriptorOptions, refuse: RefuseEntry): ListDescriptor | null {
  const { path: written = '', key: arrayKey = null, object = key, name = key, ...roles } = options;
  if (!NAME.test(key)) return refuse(`this cannot be the name of a list; allowed: ${A_NAME}`);
  if (name !== key) return refuse(`found "${name}"; allowed: "${key}", the key under which the list stands`, 'name');
  if (!OBJECT.test(object))
    return refuse(`found nothing, and "${key}" cannot be used; allowed: ${AN_OBJECT}`, 'object');
  const given = Object.fromEntries(Object.entries(roles).filter(([, value]) => value !== undefined));
  return { ...USUAL, ...given, name: key, path: `v2/${written.replace(/^\/?(v2\/)?/, '')}`, key: arrayKey, object };
}

function isFree(
  { name, path, object }: ListDescriptor,
  { path: written = name }: DescriptorOptions,
  taken: Lists,
  refuse: RefuseEntry,
): boolean {
  const other = (list: ListDescriptor | undefined): string | undefined =>
    list === undefined || list.name === name ? undefined : list.name;
  const samePath = other(taken.all.find((list) => list.path === path));
  const sameObject = other(taken.byObject(object));
  if (samePath !== undefined)
    refuse(`found "${written}", the path of the list "${samePath}"; allowed: a path of its own`, 'path');
  else if (sameObject !== undefined)
    refuse(`found "${object}", the object of the list "${sameObject}"; allowed: another word`, 'object');
  return samePath === undefined && sameObject === undefined;
}

interface WithLists {
  readonly name: string;
  readonly lists: Readonly<Record<string, { readonly descriptor: ListDescriptor }>>;
}

export function listsOf(workspaces: readonly WithLists[]): Lists {
  const further = new Map<string, ListDescriptor>();
  for (const { lists } of workspaces) {
    for (const { descriptor } of Object.values(lists)) {
      if (!isBuiltIn(descriptor.name) && !further.has(descriptor.name)) further.set(descriptor.name, descriptor);
    }
  }
  return createLists([...further.values()]);
}

/** What subscriptions may select: a workspace that comes at run time may have any ready-made list. */
export function knownLists({ workspaces, key }: { workspaces: readonly WithLists[]; key?: string | undefined }): Lists {
  const lists = listsOf(workspaces);
  if (key === undefined) return lists;
  const more = readyMadeLists.all.filter(({ name, object }) =>
    [lists.parse(name), lists.byObject(object)].every((one) => one === undefined),
  );
  return listsFrom([...lists.all, ...more]);
}

export function polledLists(
  lists: Readonly<Record<string, { readonly descriptor: ListDescriptor; readonly enabled: boolean }>>,
): Lists {
  const polled = Object.values(lists).filter(({ enabled }) => enabled);
  return listsFrom(polled.map(({ descriptor }) => descriptor));
}

function isBuiltIn(name: string): boolean {
  return (LIST_NAMES as readonly string[]).includes(name);
}

const WHY_ONE = {
  object: 'the same name and object in every workspace',
  path: 'the same name and path in every workspace, because "serve" offers them at one address',
};

/** A subscription reads several workspaces, and the mirror serves all of them at one address. */
export function listsThatDisagree(workspaces: readonly WithLists[], option: 'object' | 'path'): ConfigProblem[] {
  const seen: { workspace: string; list: ListDescriptor }[] = [];
  return workspaces.flatMap(({ name: workspace, lists }, index) =>
    Object.values(lists).flatMap(({ descriptor: list }) => {
      const other = seen.find(({ list: one }) => (one.name === list.name) !== (one[option] === list[option]));
      seen.push({ workspace, list });
      if (other === undefined) return [];
      const [found, theirs] = [list, other.list].map((one) => one[option].replace(/^v2\//, ''));
      const problem = `found "${found}", but workspace "${other.workspace}" has "${theirs}" as the ${option} of the list "${other.list.name}"; allowed: ${WHY_ONE[option]}`;
      return [{ path: ['workspaces', index, 'lists', list.name, option], problem }];
    }),
  );
}

/** The masks that hide what a record is recognised by, or when it was changed. */
export function masksOfNeeded(masks: Masks, list: ListDescriptor): [pattern: string, field: string][] {
  const fields = ['id', ...list.modifiedAt, ...list.createdAt];
  return Object.entries(masks).flatMap(([pattern, mask]) => {
    const maskOf = compileMasks({ [pattern]: mask }, list);
    return fields.filter((field) => maskOf(field) !== undefined).map((field): [string, string] => [pattern, field]);
  });
}
