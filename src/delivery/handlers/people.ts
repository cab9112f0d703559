/** The option `people`: where the people of the CRM are reached. One map for all workspaces, as they are the same people. Pure. */
import { z } from 'zod';
import type { PersonInCharge } from '../../events/person-in-charge.js';
import { matching, strictOptions, text } from '../../kit/schema/fields.js';

export const AN_ADDRESS = 'an e-mail address, such as kim@acme.example';
/** Nothing that could end the address in a header or in a command of SMTP. */
export const ADDRESS = /^[^\s\p{C}<>()[\]"\\,:;@]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)*$/u;

/** @param allowed what stands in its place too */
export function addressOr(allowed: string) {
  return matching(ADDRESS, allowed).max(254, { error: allowed });
}
export const mailAddress = addressOr(AN_ADDRESS);

const personOptions = strictOptions({
  /** For the handler `email`; also for KakaoWork and Teams where the account has the same name. @defaultValue none */
  email: mailAddress.optional(),
  /** The member id: `U012AB3CD`. @defaultValue none: the name in the CRM */
  slack: matching(/^[UW][A-Z0-9]{2,40}$/, "the id of a member of Slack, such as 'U012AB3CD'").optional(),
  /** The user principal name, which looks like an e-mail address, or the object id of Entra. @defaultValue `email` */
  teams: matching(/^[\w.%+@-]{3,254}$/, 'a user principal name or an object id of Entra').optional(),
  /** The user id in quotes: `'80351110224678912'`. @defaultValue none: the name in the CRM */
  discord: matching(/^\d{5,25}$/, "the id of a user of Discord in quotes, such as '80351110224678912'").optional(),
  /** The name that messages in JANDI show; its webhooks can notify nobody by name. @defaultValue the name in the CRM */
  jandi: text('a name').max(80, { error: 'at most 80 characters' }).optional(),
  /** The user id in quotes: `'107946847022116401880'`. @defaultValue none: the name in the CRM */
  googleChat: matching(
    /^\d{5,25}$/,
    "the id of a user of Google Chat in quotes, such as '107946847022116401880'",
  ).optional(),
  /** The e-mail address of the account. @defaultValue `email` */
  kakaowork: mailAddress.optional(),
});

const A_MAP =
  "an object whose keys are names or ids of people in the CRM, such as { '김담당': { email: 'kim@acme.example' } }";

export const people = z.record(z.string(), personOptions, { error: A_MAP }).readonly();

/** Where one person is reached. */
export type PersonAddresses = z.output<typeof personOptions>;
/** Where people are reached, by name or id in the CRM. */
export type People = Readonly<Record<string, PersonAddresses>>;

/** The id says who it is; a name is what people write. */
export function addressesOf({ id, name }: PersonInCharge, people: People): PersonAddresses | null {
  if (Object.hasOwn(people, id)) return people[id] ?? null;
  const wanted = name.normalize('NFC').trim();
  const found = Object.keys(people).find((key) => key.normalize('NFC').trim() === wanted);
  return found === undefined ? null : (people[found] ?? null);
}
