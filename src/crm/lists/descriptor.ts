/** One list of the read API, as data: all that differs from list to list. A new one of the same form needs no code. */
export interface ListDescriptor {
  /** The name of the list on the command line, in the configuration and in Redis keys. */
  readonly name: string;
  /** The path behind the base URL, without a leading slash: `v2/people`. */
  readonly path: string;
  /** The key of the array in `data`; null where it is the only array in `data`. */
  readonly key: string | null;
  /** Otherwise the key was only seen in real answers, and an empty array of another name is an empty page. */
  readonly keyIsWritten: boolean;
  /** The name of a record in event types: `crm.<object>.created`. */
  readonly object: string;
  /** `optional`: a row without an id is identified by its content, and its removal is never reported. */
  readonly ids: 'required' | 'optional';
  /** Records can be merged: a removed record may continue in another one (`data.mergedInto`). */
  readonly merged: boolean;
  /** Rows are only ever added: many new rows at once are plausible while the known rows are still there. */
  readonly growsOnly: boolean;
  /** Fields with the time of the record's last change, the preferred one first. They are not compared. */
  readonly modifiedAt: readonly string[];
  /** Fields with the time of the record's creation, the preferred one first. */
  readonly createdAt: readonly string[];
  /** Patterns of fields that the system refreshes when *other* records change. */
  readonly systemKept: readonly string[];
  /** Fields that real answers spell differently: other spelling → name in the interface. */
  readonly spellings: Readonly<Record<string, string>>;
  /** Only the key of a row is kept: it is never changed or removed, and only its event shows it. For lists that may be very long. */
  readonly recognisedOnly: boolean;
  /** Rows that say what changed in which record, and who did it. */
  readonly history?: HistoryRole;
  /** Which records are likelier to change than others. */
  readonly open?: OpenRole;
}

export interface HistoryRole {
  /** The records that a row is about: a field of the row with the id of a record of this object. */
  readonly of: readonly { readonly object: string; readonly field: string }[];
  /** The name of the field that was changed. */
  readonly changed: string;
  /** Its value after the change. */
  readonly value: string;
  /** Who changed it: `{ type, id, name }`. */
  readonly actor: string;
}

/** How open records are told from closed ones. */
export interface OpenRole {
  readonly field: string;
  /** A record with one of these values is closed; any other is open. */
  readonly closed: readonly unknown[];
  /** The field with the time at which an open record is due. */
  readonly due?: string;
}

/** Holds unless a list's descriptor says otherwise. Both spellings of the timestamps occur in real answers. */
export const USUAL = {
  keyIsWritten: true,
  ids: 'required',
  merged: false,
  growsOnly: false,
  modifiedAt: ['수정 날짜', 'updatedAt'],
  createdAt: ['생성 날짜', 'createdAt', 'date'],
  systemKept: [],
  spellings: {},
  recognisedOnly: false,
} as const satisfies Omit<ListDescriptor, 'name' | 'path' | 'key' | 'object'>;

/** The name of a field in the interface, unless the record has both spellings. */
export function writtenName({ spellings }: ListDescriptor, field: string, record: object): string {
  const written = Object.hasOwn(spellings, field) ? spellings[field] : undefined;
  return written === undefined || written in record ? field : written;
}
