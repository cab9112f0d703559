/** What a digest says of many events, added up one by one: none but the first are kept. Pure. */
import { timeOfLogId } from '../../events/log-id.js';
import { objectOf } from '../../events/envelope.js';
import { personOf } from '../../events/person-in-charge.js';
import type { ChangeEvent, LoggedEvent } from '../../events/types.js';
import type { DigestEnd, DigestSummary } from './handler.js';
import { isoTime } from '../../kit/clock.js';

/** The first records are named one by one. */
const NAMED = 10;
/** A record that never rests must not fill the memory. */
const MOST_OF_A_RECORD = 20;

interface About {
  workspace: string;
  events: DigestSummary['events'];
  /** @defaultValue none */
  linkOf?: (period: Period) => string | null;
}

/** From the first event to the last one: ISO 8601, when they were logged. */
export interface Period {
  from: string;
  to: string;
}

export class DigestSums {
  count = 0;
  readonly #first: ChangeEvent[] = [];
  readonly #records = new Map<string, { events: ChangeEvent[]; count: number }>();
  readonly #types = new Map<string, number>();
  readonly #people = new Map<string, { id: string; name: string; count: number }>();
  #from = '';
  #to = '';

  /** Whether a digest says something of this event itself. Others are only counted. */
  names(event: ChangeEvent): boolean {
    return this.#first.length < NAMED || this.#records.size < NAMED || this.#records.has(recordOf(event));
  }

  add({ logId, event }: LoggedEvent): void {
    if (this.count === 0) this.#from = logId;
    this.#to = logId;
    this.count += 1;
    if (this.#first.length < NAMED) this.#first.push(event);
    this.#addToRecord(event);
    this.#types.set(event.type, (this.#types.get(event.type) ?? 0) + 1);
    const person = personOf(event);
    if (person === null) return;
    const { id } = person;
    const known = this.#people.get(id);
    // Some records name only an id.
    const name = known === undefined || known.name === id ? person.name : known.name;
    this.#people.set(id, { id, name, count: (known?.count ?? 0) + 1 });
  }

  #addToRecord(event: ChangeEvent): void {
    const key = recordOf(event);
    const known = this.#records.get(key);
    if (known === undefined && this.#records.size === NAMED) return;
    const { events, count } = known ?? { events: [], count: 0 };
    // The newest ones say how it ended.
    if (events.length === MOST_OF_A_RECORD) events.splice(1, 1);
    events.push(event);
    this.#records.set(key, { events, count: count + 1 });
  }

  summary({ workspace, events, linkOf = () => null }: About): DigestSummary {
    const [from, to] = [endAt(this.#from), endAt(this.#to)];
    const types = [...this.#types].map(([type, count]) => ({ type, count }));
    return {
      id: `digest.${this.#from}.${this.#to}`,
      workspace,
      from,
      to,
      count: this.count,
      types: types.toSorted((a, b) => b.count - a.count || a.type.localeCompare(b.type)),
      people: [...this.#people.values()].toSorted((a, b) => b.count - a.count || a.name.localeCompare(b.name)),
      first: [...this.#first],
      records: [...this.#records.values()],
      events,
      link: linkOf({ from: from.time, to: to.time }),
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

/** Each of the feed's own events is by itself. */
function recordOf(event: ChangeEvent): string {
  const { after, before } = event.data;
  return (after ?? before) === null ? event.id : `${objectOf(event)} ${event.subject}`;
}

function endAt(logId: string): DigestEnd {
  return { logId, time: isoTime(timeOfLogId(logId)) };
}
