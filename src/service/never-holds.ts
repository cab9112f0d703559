/** Conditions of subscriptions that can never hold by what the stored records are. A doubt is never false: what is not known gives none. */
import type { ListDescriptor } from '../crm/lists/descriptor.js';
import type { ListName } from '../crm/lists/lists.js';
import type { Subscription } from '../delivery/handlers/handler.js';
import { readTemplate } from '../delivery/handlers/message/template.js';
import { compileWhere } from '../delivery/handlers/where.js';
import { typesOf } from '../events/catalogue.js';
import { compileTypes, readsWorkspace, workspaceOfEvent, type Asked } from '../events/pattern.js';
import type { ChangeEvent } from '../events/types.js';
import type { Mask } from '../feed/detect/masks.js';
import { unmatched } from '../feed/detect/named-fields.js';
import { isEmptyValueType, keysOfValueType } from '../feed/detect/schema-drift/schema.js';
import { createSnapshotSource } from '../feed/store/snapshot-source.js';
import { giveWay } from '../kit/give-way.js';
import { doubtText, type Doubt } from '../words/doubts.js';
import { wordsFor } from '../words/words.js';
import type { AppContext } from '../../workers/context.js';
import type { Workspaces } from '../../workers/workspaces.js';

/** Steps of some 250 stored records in which values are looked for. */
const STEPS = 4;

export type NeverHolds = ReturnType<typeof createNeverHolds>;

/** The schemas are read once: make another one for what they are later. */
export function createNeverHolds(context: AppContext, workspaces: Workspaces) {
  const lists = workspaces.all().flatMap(({ name, store, lists: all }) =>
    [...all.values()].map(({ descriptor, rules }) => {
      let reading: Promise<KnownList['fields']> | undefined;
      const fields = () => (reading ??= store.schema(descriptor.name).then((schema) => schema.fields));
      return {
        workspace: name,
        list: descriptor.name,
        descriptor,
        types: typesOf(descriptor),
        maskOf: rules.maskOf,
        fields,
      };
    }),
  );
  const knownTo = async (subscription: Subscription): Promise<KnownList[]> => {
    const selects = compileTypes(subscription);
    const read = lists.filter((one) => readsWorkspace(subscription, one.workspace) && one.types.some(selects));
    const known = await Promise.all(read.map(async (one) => ({ ...one, fields: await one.fields() })));
    return known.filter(({ fields }) => fields.size > 0);
  };
  return {
    /** @param template whose fields are asked for, too */
    async of(subscription: Subscription, template?: string): Promise<Doubt[]> {
      const asks = subscription.where?.asks ?? [];
      const named = template === undefined ? [] : fieldsIn(template, subscription);
      const { unchanged } = subscription;
      const selected = [...(subscription.fields ?? []), ...(unchanged?.field == null ? [] : [unchanged.field])];
      if (asks.length + named.length + selected.length === 0) return [];
      const known = await knownTo(subscription);
      const doubts = [...asks.flatMap((asked) => doubtOf(asked, known) ?? []), ...unselected(selected, known)];
      const unknown = named.filter((field) => known.length > 0 && known.every((one) => !has(one, field)));
      const all = [...doubts, ...unknown.map((field): Doubt => ({ why: 'template', field, wants: [], has: [] }))];
      return [...new Map(all.map((one) => [`${one.why} ${one.field}`, one])).values()];
    },
    /** Values that none of some of the stored records has. */
    async unseen(subscription: Subscription): Promise<Doubt[]> {
      const asks = (subscription.where?.asks ?? []).filter(({ by }) => by === 'equal');
      const wanted = asks.flatMap(({ field, values }) =>
        values.flatMap((value) => (typeof value === 'string' ? [{ field, value, isIt: holdsOf(field, value) }] : [])),
      );
      const known = wanted.length === 0 ? [] : await knownTo(subscription);
      const maybe = wanted.filter(({ field }) => known.some((one) => has(one, field) && !one.maskOf(field)));
      let [left, read] = [maybe, 0];
      for (const one of left.length === 0 ? [] : known)
        for await (const events of stored(context, workspaces, one)) {
          read += events.length;
          left = left.filter(({ isIt }) => !events.some(isIt));
          if (left.length === 0) return [];
        }
      return read === 0
        ? []
        : left.map(({ field, value }) => ({ why: 'unseen', field, wants: [value], has: [], read }));
    },
  };
}

/** Without the schema of a list, nothing is known yet. What cannot be read is no reason not to start. */
export function reportOfDoubts(context: AppContext, workspaces: Workspaces, roles: readonly string[]) {
  const start = async (): Promise<void> => {
    const neverHolds = createNeverHolds(context, workspaces);
    for (const subscription of context.subscriptions)
      for (const doubt of await neverHolds.of(subscription).catch(() => []))
        context.log.warn(
          { subscription: subscription.name, field: doubt.field, reason: doubtText(doubt, wordsFor('en').t) },
          'condition holds for no stored record',
        );
  };
  return roles.includes('dispatch') ? [{ name: 'conditions', start, stop: () => Promise.resolve() }] : [];
}

interface KnownList {
  workspace: string;
  list: ListName;
  descriptor: ListDescriptor;
  maskOf: (field: string) => Mask | undefined;
  fields: ReadonlyMap<string, ReadonlyMap<string, number>>;
}

const has = ({ fields }: KnownList, path: string): boolean =>
  [...fields.keys()].some((field) => path === field.normalize('NFC') || path.startsWith(`${field.normalize('NFC')}.`));

function doubtOf(asked: Asked, known: readonly KnownList[]): Doubt | null {
  const { field, by, values } = asked;
  const having = known.filter((one) => has(one, field));
  if (known.length === 0) return null;
  const wants = by === 'time' ? ['time'] : [...new Set(values.map((value) => typeof value))];
  if (having.length === 0) return missing(field, known);
  if (by === 'any' || values.includes(null)) return null;
  const [masked, plain] = [having.filter((one) => one.maskOf(field)), having.filter((one) => !one.maskOf(field))];
  if (!masked.every((one) => isHidden(asked, one.maskOf(field)))) return null;
  if (plain.length === 0) return { why: 'masked', field, wants, has: [] };
  const types = plain.flatMap(({ fields }) => [...(fields.get(field)?.keys() ?? [])]);
  const seen = types.filter((type) => !isEmptyValueType(type));
  if (seen.length === 0 || seen.some((type) => mayHold(type, asked))) return null;
  return { why: 'type', field, wants, has: [...new Set(seen.map(wordOf))] };
}

function missing(field: string, known: readonly KnownList[]): Doubt {
  return { why: known.some((one) => one.maskOf(field)) ? 'masked' : 'missing', field, wants: [], has: [] };
}

/** Patterns of `fields` that no field matches. An update of nothing else is selected. */
function unselected(patterns: readonly string[], known: readonly KnownList[]): Doubt[] {
  if (known.length === 0) return [];
  const named = patterns.map((pattern) => ({ option: 'only' as const, pattern }));
  const found = known.map(({ descriptor, fields }) => new Set(unmatched(named, descriptor, fields.keys())));
  return named
    .filter((one) => found.every((without) => without.has(one)))
    .map(({ pattern }) => missing(pattern, known));
}

/** The end of a masked text may be known, and what was copied from a record has its form. */
function isHidden({ by, values }: Asked, mask: Mask | undefined): boolean {
  if (by === 'part' && mask === 'last4') return false;
  return !values.some((value) => typeof value === 'string' && value.includes('#'));
}

function mayHold(type: string, asked: Asked): boolean {
  const { by, values } = asked;
  const [, item] = /^list of (.*)$/s.exec(type) ?? [];
  if (item !== undefined) return (by === 'equal' || by === 'part') && mayHold(item, asked);
  if (type === 'list' || type === 'object') return by === 'equal' || by === 'part';
  // A reference is known by its id or its name.
  if (type.startsWith('{')) return by === 'equal' && keysOfValueType(type).some((key) => key === 'id' || key === '_id');
  const isText = type === 'string' || type.startsWith('timestamp');
  return by === 'time' ? isText : values.some((value) => typeof value === (isText ? 'string' : type));
}

function wordOf(type: string): string {
  if (type.startsWith('timestamp')) return 'time';
  return type.startsWith('list') ? 'list' : type.startsWith('{') ? 'reference' : type;
}

function fieldsIn(template: string, { include = {} }: Subscription): string[] {
  const read = readTemplate(template, Object.keys(include));
  if (read.outcome === 'refused') return [];
  return read.template.flatMap((piece) =>
    piece.kind === 'field' && ['before', 'after', 'record'].includes(piece.word) ? [piece.path.normalize('NFC')] : [],
  );
}

/** As the value of the field, or as one of its list. */
function holdsOf(field: string, value: string): (event: ChangeEvent) => boolean {
  const holds = compileWhere({ any: [{ [`after.${field}`]: value }, { [`after.${field}`]: { contains: value } }] });
  return (event) => holds(event, workspaceOfEvent(event, {}));
}

/** @yields some of the stored records of a list, as snapshots */
export async function* stored(
  { redis, keys, clock }: AppContext,
  workspaces: Workspaces,
  { workspace, list }: { workspace: string; list: ListName },
): AsyncGenerator<ChangeEvent[]> {
  const { lists } = workspaces.get(workspace);
  const source = createSnapshotSource({ redis, keys, clock, list: (_, one) => lists.get(one) ?? null });
  let position: Parameters<typeof source.scan>[2] = null;
  for (let step = 0; step < STEPS; step += 1) {
    await giveWay();
    const { records, next } = await source.scan(workspace, list, position);
    yield records.flatMap(({ event }) => (event === null ? [] : [event]));
    position = next;
    if (position === null) return;
  }
}
