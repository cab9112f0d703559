/** The person in charge in a chat: mentioned as the service documents it, otherwise named. Pure. */
import type { PersonInCharge } from '../../../events/person-in-charge.js';
import { shorten } from '../../../kit/printable.js';
import { addressesOf, type People } from '../people.js';
import type { Mention, Service } from './services.js';

const MOST = 10;
const LONGEST_NAME = 80;

export interface Mentioned {
  /** Before the text; nothing where nobody is named. */
  prefix: string;
  mentions: readonly Mention[];
}

export function mentionsOf(inCharge: readonly PersonInCharge[], service: Service, people: People): Mentioned {
  const found = inCharge.slice(0, MOST).flatMap((person) => mentionOf(person, service, people));
  const words = found.map((one) => (typeof one === 'string' ? one : one.text));
  return {
    prefix: words.length === 0 ? '' : `${words.join(' ')} `,
    mentions: found.filter((one) => typeof one === 'object'),
  };
}

function mentionOf(person: PersonInCharge, service: Service, people: People): (Mention | string)[] {
  const addresses = addressesOf(person, people);
  const id = addresses && service.mention?.idIn(addresses);
  const given = addresses && service.nameIn?.(addresses);
  // Where the record has no name, an id says nothing to a reader.
  const known = given ?? (person.name === person.id ? '' : person.name);
  const name = service.escape(shorten(known.replace(/\s+/gu, ' ').trim(), LONGEST_NAME));
  if (id == null || service.mention === undefined) return name === '' ? [] : [name];
  return [{ id, name: name || id, text: service.mention.text(id, name || id) }];
}
