/** An element of a list as the API sent it. Rows of history and activity may have no `id`. Keys are kept as they are spelled. */
export type UncheckedRecord = Readonly<Record<string, unknown>>;

/** A record in an event: it has an id, and whatever fields the workspace has. */
export type CrmRecord = UncheckedRecord & { readonly id: string };

/** Whether a value is an object and no array. */
export function isObject(value: unknown): value is UncheckedRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * The types of your own records, by the word for a record in event types (`person`, `todo` …). It is empty until you add to it, by module
 * augmentation; `changefeed schema --types -o records.d.ts` writes the file. Events then have your fields.
 *
 *     declare module 'crm-changefeed' {
 *       interface CrmRecords { person: Person }
 *     }
 */
// eslint-disable-next-line @typescript-eslint/no-empty-object-type -- the compiler adds the members of the augmentation
export interface CrmRecords {}
