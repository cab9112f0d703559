/** `defineList`: a list that is not built in, with the type of its records. */
import type { CrmRecord } from '../record.js';
import type { ListDescriptor } from './descriptor.js';

/** The description of a list in a configuration, as an entry of `workspaces[].lists`. */
export interface ListDescription extends Partial<
  Pick<ListDescriptor, 'ids' | 'merged' | 'growsOnly' | 'modifiedAt' | 'createdAt' | 'spellings'>
> {
  /** The name of the list: the key under `lists` of the workspace. */
  readonly name: string;
  /** The path behind `/v2/`, such as `deal`. */
  readonly path: string;
  /** The key of the array in `data`. @defaultValue the only array in `data` */
  readonly key?: string;
  /** The name of a record in event types: `crm.<object>.created`. @defaultValue the name */
  readonly object?: string;
}

declare const RECORD: unique symbol;

/** A list of a configuration in code. It is plain data; the type of its records exists for the compiler only. */
export interface ListDefinition<
  Item extends object = CrmRecord,
  Name extends string = string,
  Word extends string = string,
> {
  readonly name: Name;
  /** The address of the list, without what stands before: `v2/deal`. */
  readonly path: string;
  /** The name of its records in event types: `deal`. */
  readonly object: Word;
  readonly [RECORD]?: Item;
}

/** The type of the records of a list. */
export type RecordOf<List> = List extends { readonly [RECORD]?: infer Item extends object }
  ? Item & { readonly id: string }
  : CrmRecord;

type ObjectOf<List extends ListDescription> = List extends { readonly object: infer Word extends string }
  ? Word
  : List['name'];

/**
 * Describes a list of your own. The result is an entry of `workspaces[].lists`, where the usual list options can be added, and of
 * `lists` of a handler, whose events then have the type of the records. It is checked when the configuration is loaded.
 *
 *     const deal = defineList<Deal>()({ name: 'deal', path: 'deal', key: 'dealList', interval: '1m' });
 *     defineConfig({
 *       workspaces: [{ …, lists: { deal } }],
 *       subscriptions: [defineHandler({ name: 'won', lists: [deal], on: ['crm.deal.updated'], handle })],
 *     });
 */
export function defineList<Item extends object = CrmRecord>() {
  return <const List extends ListDescription>(
    list: List,
  ): List & ListDefinition<Item, List['name'], ObjectOf<List>> => ({
    ...list,
    object: (list.object ?? list.name) as ObjectOf<List>,
  });
}
