/** A list element as it came, before anything is known of its shape. */
export type RawValue = Readonly<Record<string, unknown>>;
