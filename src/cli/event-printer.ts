/** Prints events as `demo`, `start` and `tail` do on a terminal: a line each, with names where a record only has the id of another. */
import type { Inspector } from '../app/changefeed.js';
import { nameItBelongsTo } from '../events/about.js';
import type { ChangeEvent } from '../events/types.js';
import type { Io } from './io.js';
import { eventLine } from './print-event.js';

export async function printEvent(
  event: ChangeEvent,
  { record }: Pick<Inspector, 'record'>,
  { out, colours, columns }: Pick<Io, 'out' | 'colours' | 'columns'>,
): Promise<void> {
  out(eventLine(event, { colours: colours.out, columns, about: await nameItBelongsTo(event, record) }));
}
