/** What a digest says of many events, added up one by one: none but the first are kept. Pure. */
import { timeOfLogId } from '../../events/log-id.js';
import { personInCharge } from '../../events/person-in-charge.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import type { DigestEnd, DigestSummary } from './handler.js';
import { isoTime } from '../../kit/clock.js';

/** The first ones are told one by one. */
export const NAMED = 10;

interface About {
  workspace: string;
  events: DigestSummary['events'];
  link?: string | null;
}

export class DigestSums {
  count = 0;
  readonly #first: ChangeEvent[] = [];
  readonly #types = new Map<string, number>();
  readonly #people = new Map<string, { id: string; name: string; count: number }>();
  #from = '';
  #to = '';

  add({ logId, event }: LoggedEvent): void {
    if (this.count === 0) this.#from = logId;
    this.#to = logId;
    this.count += 1;
    if (this.#first.length < NAMED) this.#first.push(event);
    this.#types.set(event.type, (this.#types.get(event.type) ?? 0) + 1);
    const record = event.data.after ?? event.data.before;
    const person = record === null ? null : personInCharge(record);
    if (person === null) return;
    const { id } = person;
    const known = this.#people.get(id);
    // Some records name only an id.
    const name = known === undefined || known.name === id ? person.name : known.name;
    this.#people.set(id, { id, name, count: (known?.count ?? 0) + 1 });
  }

  summary({ workspace, events, link = null }: About): DigestSummary {
    const types = [...this.#types].map(([type, count]) => ({ type, count }));
    return {
      id: `digest.${this.#from}.${this.#to}`,
      workspace,
      from: endAt(this.#from),
      to: endAt(this.#to),
      count: this.count,
      types: types.toSorted((a, b) => b.count - a.count || a.type.localeCompare(b.type)),
      people: [...this.#people.values()].toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name)),
      first: [...this.#first],
      events,
      link,
    };
  }
}

export function digestOfOne({ workspace, ...logged }: LoggedEvent & { workspace: string }): DigestSummary {
  const sums = new DigestSums();
  sums.add(logged);
  return sums.summary({ workspace, events: () => only(logged.event) });
}

// eslint-disable-next-line @typescript-eslint/require-await -- as the events of the log, which are awaited
async function* only(event: ChangeEvent): AsyncGenerator<ChangeEvent> {
  yield event;
}

function endAt(logId: string): DigestEnd {
  return { logId, time: isoTime(timeOfLogId(logId)) };
}
