/** An element of a list as the API sent it. Rows of history and activity may have no `id`. Keys are kept as they are spelled. */
export type UncheckedRecord = Readonly<Record<string, unknown>>;

/** A record in an event: it has an id, and whatever fields the workspace has. */
export type CrmRecord = UncheckedRecord & { readonly id: string };
